/** The logits of openai_privacy_filter, and its spans by Viterbi decoding. */
import path from 'node:path';
import { findDtypeProblem } from '../../src/native/addon';
import type { TokenClassification } from '../../src/tasks/capabilities';
import { TaskModel } from '../../src/tasks/task-model';
import { toSpans } from '../../src/tasks/token-classification/spans';
import { tokenClassification } from '../../src/tasks/token-classification/token-classification-task';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

interface Row {
  readonly text: number;
  readonly ids: readonly number[];
  readonly logits: readonly (readonly number[])[];
}

const TOLERANCE = 1e-5;
const { texts } = readFixture('tagging/texts.json') as { readonly texts: readonly string[] };
const { rows } = readFixture('tagging/privacy-filter/logits.json') as {
  readonly rows: readonly Row[];
};

type Model = Awaited<ReturnType<typeof load>>;
let model: Model;

function load(dtype: 'float32' | 'bfloat16' | 'int8' = 'float32') {
  return TaskModel.load(tokenClassification, path.join(FIXTURES, 'tagging/privacy-filter'), {
    ...SCHEDULING,
    dtype,
    maxQueueRequests: 10_000,
    maxQueueWaitMs: 1e9,
  });
}

beforeAll(async () => {
  model = await load();
});
afterAll(() => model.close());

function largestError({ inference }: TokenClassification, { ids, logits }: Row): number {
  expect([...(inference.places?.ids ?? [])]).toEqual(ids);
  const wanted = logits.flat();
  expect(inference.values).toHaveLength(wanted.length);
  return wanted.reduce(
    (most, logit, index) =>
      Math.max(most, Math.abs(logit - (inference.values[index] ?? Number.NaN))),
    0,
  );
}

const inputs = rows.map(({ text }) => ({ text: texts[text] as string }));

describe('logits', () => {
  it('equal those of transformers, of a text alone', async () => {
    expect(rows.length).toBeGreaterThan(10);
    for (const [index, input] of inputs.entries()) {
      const answer = await model.run(input, {});
      expect(largestError(answer, rows[index] as Row)).toBeLessThan(TOLERANCE);
    }
  });

  it('equal those of transformers in batches, with the same bits as alone', async () => {
    const [list, ...alone] = await Promise.all([
      model.runAll(inputs, {}),
      ...inputs.map((input) => model.run(input, {})),
    ]);
    for (const [index, answer] of list.entries()) {
      expect(largestError(answer, rows[index] as Row)).toBeLessThan(TOLERANCE);
      expect(alone[index]?.inference.values).toEqual(answer.inference.values);
    }
  });

  it.each([
    ['bfloat16', 0.25],
    ['int8', 0.6],
  ] as const)('are near them in %s', async (dtype, limit) => {
    if (findDtypeProblem(dtype)?.includes('this processor has no')) {
      await expect(load(dtype)).rejects.toThrow(`DTYPE: ${dtype}: this processor has no`);
      return;
    }
    const other = await load(dtype);
    try {
      let squares = 0;
      let count = 0;
      for (const [index, input] of inputs.entries()) {
        const { inference } = await other.run(input, {});
        for (const [at, logit] of (rows[index] as Row).logits.flat().entries()) {
          squares += (logit - (inference.values[at] as number)) ** 2;
          count++;
        }
      }
      expect(Math.sqrt(squares / count)).toBeLessThan(limit);
    } finally {
      await other.close();
    }
  });
});

describe('spans', () => {
  const LONG = 'Ada Lovelace \u{1f600} was born on 10 December 1815, in London.\n '.repeat(30);

  it('are entities of the classes, in order, without white space at their ends', async () => {
    let found = 0;
    for (const text of [...texts, LONG]) {
      const answer = await model.run({ text, stride: 10 }, {});
      let end = 0;
      for (const span of await toSpans(answer, model, {})) {
        expect(['private_person', 'private_date', 'secret']).toContain(span.label);
        expect(span.start).toBeGreaterThanOrEqual(end);
        expect(span.word).toBe(answer.text.slice(span.start, span.end));
        expect(span.word).toBe(span.word.trim());
        expect(span.word).not.toMatch(/[\ud800-\udfff]/u);
        expect(span.score).toBeGreaterThan(0);
        expect(span.score).toBeLessThanOrEqual(1);
        end = span.end;
        found++;
      }
      expect(end).toBeLessThanOrEqual(text.length);
    }
    expect(found).toBeGreaterThan(100);
  });

  it('reach the end of a long text that is read in windows', async () => {
    const answer = await model.run({ text: LONG, stride: 10 }, {});
    const spans = await toSpans(answer, model, {});
    expect(spans.at(-1)?.end).toBeGreaterThan(LONG.length - 60);
  });

  it('depend on the biases of viterbi_calibration.json', async () => {
    const { viterbi } = model.metadata;
    if (!viterbi) throw new Error('expected a decoder');
    expect(viterbi.biases).toEqual({
      ...{ backgroundStay: 0.5, backgroundToStart: -0.25, insideToContinue: 0.125 },
      ...{ insideToEnd: -0.5, endToBackground: 0.25, endToStart: -0.125 },
    });
    const answer = await model.run({ text: texts[12] as string }, {});
    const withBias = (backgroundStay: number) => {
      const changed = { ...viterbi, biases: { ...viterbi.biases, backgroundStay } };
      const metadata = { ...model.metadata, viterbi: changed };
      return toSpans(answer, { metadata, vocabulary: model.vocabulary }, {});
    };
    expect(await withBias(100)).toEqual([]);
    expect((await toSpans(answer, model, {})).length).toBeGreaterThan(0);
    expect((await withBias(-100)).length).toBeGreaterThan(0);
  });

  it('leave out ignored classes', async () => {
    const answer = await model.run({ text: texts[12] as string }, {});
    const all = await toSpans(answer, model, {});
    const some = await toSpans(answer, model, { ignoreLabels: ['private_person'] });
    expect(some).toEqual(all.filter(({ label }) => label !== 'private_person'));
  });
});
