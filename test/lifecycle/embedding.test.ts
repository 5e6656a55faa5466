import path from 'node:path';
import { readGolden, readGoldenPairs } from '../helpers/golden';
import { killAll, NodeProcess } from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'embedding.cjs');

interface Outcome {
  readonly name: string;
  readonly result?: unknown;
  readonly error?: {
    readonly code: string;
    readonly index: number | null;
    readonly message: string;
  };
}

/** What the options of an engine are called in its errors, in this order. */
const NAMES_EVERY_OPTION = new RegExp(
  [
    'WORKERS',
    'THREADS_PER_WORKER',
    'MAX_BATCH_TOKENS',
    'MAX_BATCH_REQUESTS',
    'MAX_QUEUE_DELAY_MS',
    'MAX_QUEUE_REQUESTS',
    'MAX_QUEUE_WAIT_MS',
    'INFERENCE_TIMEOUT_MS',
    'ALLOWED_OPERATORS',
  ]
    .map((name) => `^${name}: expected`)
    .join('[^]*'),
  'm',
);

const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  const process_ = new NodeProcess({ script: SCRIPT });
  expect(await process_.exit).toEqual({ code: 0, signal: null });
  expect(process_.stderr).toBe('');
  for (const line of process_.stdout.trim().split('\n')) {
    const outcome = JSON.parse(line) as Outcome;
    outcomes.set(outcome.name, outcome);
  }
});

afterAll(killAll);

it('answers as transformers does, not rounded', () => {
  const golden = readGolden('bert-single-label').texts.find(({ text }) => text === 'Good.');
  const { label, score, probabilities, truncated } = (outcomes.get('one') as Outcome).result as {
    label: string;
    score: number;
    probabilities: Record<string, number>;
    truncated: boolean;
  };
  expect([label, truncated]).toEqual([golden?.label, false]);
  expect(Math.abs(score - (golden?.score ?? 0))).toBeLessThan(1e-5);
  expect(probabilities[label]).toBe(score);
  const sum = Object.values(probabilities).reduce((total, value) => total + value, 0);
  expect(sum).toBeCloseTo(1, 5);
});

it('answers two texts as transformers does, and one with an empty second text as one', () => {
  const [first] = readGoldenPairs('bert-single-label');
  expect(outcomes.get('pair')?.result).toEqual([
    { label: first?.label, score: expect.closeTo(first?.score ?? 0, 5), truncated: false },
    outcomes.get('one short')?.result,
  ]);
});

it('cuts as it is told', () => {
  const cut = outcomes.get('cut')?.result as readonly { truncated: boolean; score: number }[];
  expect(cut.map(({ truncated }) => truncated)).toEqual([true, true, true]);
  expect(new Set(cut.map(({ score }) => score)).size).toBe(3);
});

it('takes an empty text, an empty list, and arrays of any kind', () => {
  expect(outcomes.get('empty')?.result).toMatchObject({ truncated: false });
  expect(outcomes.get('none')?.result).toEqual([]);
  expect(outcomes.get('three')?.result).toBe(3);
  expect(outcomes.get('window')?.result).toHaveLength(3);
});

it.each([
  ['no model', 'MODEL_LOAD_FAILED', null, /expected a model directory, found none$/],
  ['no window', 'MODEL_LOAD_FAILED', null, /eeg\.pt/],
  ['wrong option', undefined, undefined, /^WORKERS: expected an integer from 1 to 1024/],
  ['every option wrong', undefined, undefined, NAMES_EVERY_OPTION],
  ['not a text', 'INPUT_INVALID', 1, /^\[1\]: expected a string or an object, received number$/],
  ['no first text', 'INPUT_INVALID', 1, /^\[1\]: text: expected a string, received undefined$/],
  ['not a pair', 'INPUT_INVALID', null, /^textPair: expected a string, received number$/],
  [
    'no strategy',
    'INPUT_INVALID',
    null,
    /^truncation: expected one of longest_first, only_first, /,
  ],
  ['no side', 'INPUT_INVALID', null, /^truncationSide: expected one of left, right$/],
  ['not to be cut', 'INPUT_TOO_LONG', null, /^The text has more than 40 tokens\.$/],
  ['one not to be cut', 'INPUT_TOO_LONG', 1, /^The two texts together have more than 40 tokens\.$/],
  ['too many', 'QUEUE_FULL', null, /^The queue is full\.$/],
  ['late', 'DEADLINE_EXCEEDED', 0, /^The deadline passed/],
  ['cancelled', 'CANCELLED', null, /cancelled/],
  ['closed', 'DRAINING', null, /./],
  ['raises', 'INFERENCE_FAILED', 1, /amplitude over 5$/],
  ['short', 'INPUT_INVALID', 1, /^\[1\]: expected 256 samples, received 1$/],
  ['infinite', 'INPUT_INVALID', null, /^sample 3: expected a finite number$/],
])('%s: fails with a code', (name, code, index, message) => {
  const { error } = outcomes.get(name) as Outcome;
  expect([error?.code, error?.index]).toEqual([code, index]);
  expect(error?.message).toMatch(message);
});
