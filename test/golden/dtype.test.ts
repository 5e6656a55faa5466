import path from 'node:path';
import type { Dtype } from '../../src/native/engine';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { analyze } from '../helpers/http';
import {
  FIXTURES,
  killAll,
  MAIN,
  NodeProcess,
  ROOT,
  startService,
  textModel,
} from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'classify-in-dtype.cjs');
const SHIPPED = path.join(ROOT, 'models', 'sentiment');
const NO_KERNEL: Readonly<Record<string, string>> = {
  bfloat16: 'this processor has no AVX512-BF16',
  int8: 'this processor has no AVX2',
  'int8-vnni': 'this processor has no AVX512-VNNI',
};

interface Answer {
  readonly label: string;
  readonly score: number;
}

interface Outcome {
  /** Of `dtypeProblem`. */
  readonly problem: string;
  readonly warnings?: readonly string[];
  readonly answers?: readonly Answer[];
  /** Of the loading. */
  readonly error?: string;
}

afterAll(killAll);

/** Nothing of it runs here: an illegal instruction would end this process, and all of its tests. */
async function classifyIn(dtype: Dtype, directory: string): Promise<Outcome> {
  const { texts } = readFixture<GoldenTexts>('shipped-sentiment.json');
  const running = new NodeProcess({ script: SCRIPT, args: [dtype, directory] });
  running.child.stdin?.end(JSON.stringify(texts.slice(0, 60).map(({ text }) => text)));
  expect(await running.exit).toEqual({ code: 0, signal: null });
  expect(running.stderr).toBe('');
  return JSON.parse(running.stdout) as Outcome;
}

/** Probabilities of one label, of which there are two. */
function furthest(some: readonly Answer[], others: readonly Answer[]): number {
  const differences = some.map(({ label, score }, i) => {
    const other = others[i] as Answer;
    return Math.abs(score - (label === other.label ? other.score : 1 - other.score));
  });
  return Math.max(...differences);
}

describe.each(['bfloat16', 'int8', 'int8-vnni'] as const)('DTYPE=%s', (dtype) => {
  let reference: readonly Answer[];
  let outcome: Outcome;

  beforeAll(async () => {
    const inFloat32 = await classifyIn('float32', SHIPPED);
    expect(inFloat32).toMatchObject({ problem: '', warnings: [] });
    reference = inFloat32.answers as readonly Answer[];
    outcome = await classifyIn(dtype, SHIPPED);
  });

  it('serves where it is of use, else ends with one line that says why', async () => {
    if (outcome.problem === '') {
      const service = await startService('sentiment', { env: { DTYPE: dtype } });
      const { status } = await analyze(service, 'A good film.');
      expect(status).toBe(200);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      return;
    }
    const env = { ...textModel('bert-single-label'), PORT: '0', DTYPE: dtype };
    const started = new NodeProcess({ script: MAIN, args: ['sentiment'], env });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.stderr).toMatch(
      new RegExp(
        `^libtorch-serve: DTYPE: ${dtype} cannot be used on this processor: .+. Unset DTYPE\n$`,
      ),
    );
  });

  it('answers nearly as float32, but not in the same numbers; without instructions for it, not at all', () => {
    if (outcome.error !== undefined) {
      // Under a limit: ", or INSTRUCTION_SET does not allow it".
      expect(outcome.problem.split(', or')[0]).toBe(NO_KERNEL[dtype]);
      expect(outcome.error).toBe(`DTYPE: ${dtype}: ${outcome.problem}`);
      return;
    }
    const answers = outcome.answers as readonly Answer[];
    expect(outcome.warnings).toEqual([]);
    const difference = furthest(answers, reference);
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(0.15);
    const alike = answers.filter(({ label }, i) => label === reference[i]?.label);
    expect(alike.length / answers.length).toBeGreaterThanOrEqual(0.95);
  });
});

it('a TorchScript text model computes as it was saved', async () => {
  const directory = path.join(FIXTURES, 'models', 'torchscript-traced-bert');
  const { error } = await classifyIn('int8', directory);
  expect(error).toMatch(/^model\.pt: .+: DTYPE must be float32$/);
});
