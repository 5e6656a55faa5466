import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Tagger } from '../../src/index';
import { codePointCounter } from '../../src/lib/code-points';
import type { TokenClassification, TokenClassificationInput } from '../../src/tasks/capabilities';
import { TaskModel } from '../../src/tasks/task-model';
import { type Span, type Strategy, toSpans } from '../../src/tasks/token-classification/spans';
import { tokenClassification } from '../../src/tasks/token-classification/token-classification-task';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const FOLDER = path.join(FIXTURES, 'tagging');
const NAMES = readdirSync(FOLDER).filter((name) => !name.endsWith('.json'));

/** [label, score, word, start and end in code points, index] */
type GoldenSpan = readonly [string, number, string, number, number, number | null];

interface Golden {
  readonly rows: readonly {
    readonly text: number;
    readonly strategy: Strategy;
    readonly stride?: number;
    readonly spans: readonly GoldenSpan[];
  }[];
  readonly long?: {
    readonly count: number;
    readonly begins: number;
    readonly ends: number;
    readonly score: number;
    readonly first: readonly GoldenSpan[];
    readonly last: readonly GoldenSpan[];
  };
}

function read<Content>(...names: readonly string[]): Content {
  return JSON.parse(readFileSync(path.join(FOLDER, ...names), 'utf8')) as Content;
}

const { texts } = read<{ readonly texts: readonly string[] }>('texts.json');

type Model = Awaited<ReturnType<typeof load>>;

function load(name: string) {
  return TaskModel.load(tokenClassification, path.join(FOLDER, name), {
    ...SCHEDULING,
    maxQueueRequests: 10_000,
    maxQueueWaitMs: 1e9,
  });
}

/** As the pipeline of transformers tells them: offsets in code points. */
function told(spans: readonly Span[], text: string): readonly GoldenSpan[] {
  const point = codePointCounter(text);
  return spans.map(({ label, score, word, start, end, index }) => [
    ...([label, score, word, point(start), point(end), index] as const),
  ]);
}

function expectSame(found: readonly GoldenSpan[], expected: readonly GoldenSpan[], what: string) {
  const withoutScore = ([label, , ...rest]: GoldenSpan) => [label, ...rest];
  expect({ what, spans: found.map(withoutScore) }).toEqual({
    what,
    spans: expected.map(withoutScore),
  });
  for (const [index, [, score]] of expected.entries()) {
    expect(Math.abs((found[index]?.[1] ?? Number.NaN) - score)).toBeLessThan(1e-5);
  }
}

/** As test/parity/tagging_golden.py puts it together. */
function longText(): string {
  const words = [
    'the',
    'film',
    'is',
    '\u{1f600}',
    'good,',
    'Berlin',
    '电影',
    'café',
    'unknowable.',
  ];
  return Array.from({ length: 50_000 }, (_, i) => words[(i * i + Math.floor(i / 7)) % 9]).join(' ');
}

describe.each(NAMES)('%s', (name) => {
  const { rows, long } = read<Golden>(name, 'golden.json');
  let model: Model;

  beforeAll(async () => {
    model = await load(name);
  });

  afterAll(() => model.close());

  const check = async (answers: readonly TokenClassification[]) => {
    for (const [index, { text, strategy, stride, spans }] of rows.entries()) {
      const options = { strategy, ...(stride !== undefined && { ignoreLabels: ['LOC'] }) };
      const source = texts[text] as string;
      const found = told(
        await toSpans(answers[index] as TokenClassification, model, options),
        source,
      );
      expectSame(found, spans, JSON.stringify({ source, strategy, stride }));
    }
  };
  const inputs: readonly TokenClassificationInput[] = rows.map(({ text, stride }) => ({
    text: texts[text] as string,
    ...(stride !== undefined && { stride }),
  }));

  it('has the spans of the pipeline, of a text alone', async () => {
    const answers: TokenClassification[] = [];
    for (const input of inputs) answers.push(await model.run(input, {}));
    await check(answers);
  });

  it('has them of a list, and under load', async () => {
    const [list, ...alone] = await Promise.all([
      model.runAll(inputs, {}),
      ...inputs.map((input) => model.run(input, {})),
    ]);
    await check(list);
    await check(alone);
  });

  it('gives offsets that select characters of the text', async () => {
    for (const text of texts) {
      const answer = await model.run({ text, stride: 3 }, {});
      for (const { start, end } of await toSpans(answer, model, {
        strategy: 'none',
        ignoreLabels: [],
      })) {
        expect(start).toBeLessThanOrEqual(end);
        expect(!/[\ud800-\udfff]/u.test(text.slice(start, end))).toBe(true);
      }
    }
  });

  if (long) {
    it('reads a text of 50,000 words in windows', async () => {
      const text = longText();
      const answer = await model.run({ text, stride: 8 }, {});
      const spans = told(await toSpans(answer, model, { strategy: 'simple' }), text);
      const sum = (of: (span: GoldenSpan) => number) =>
        spans.reduce((all, one) => all + of(one), 0);
      expect(spans).toHaveLength(long.count);
      expect([sum((span) => span[3]), sum((span) => span[4])]).toEqual([long.begins, long.ends]);
      expect(sum((span) => span[1]) / spans.length).toBeCloseTo(long.score ?? 0, 5);
      expectSame(spans.slice(0, 5), long.first, 'first');
      expectSame(spans.slice(-5), long.last, 'last');
    });
  }
});

it('takes a lone surrogate for U+FFFD, one unit both', async () => {
  const model = await load('bert');
  const answers = await model.runAll([{ text: 'a \ud800 film' }, { text: 'a \ufffd film' }], {});
  const spans = await Promise.all(
    answers.map((answer) => toSpans(answer, model, { strategy: 'none' })),
  );
  expect(spans[0]).toEqual(spans[1]);
  await model.close();
});

it('names a stride that leaves a window nothing new', async () => {
  const model = await load('bert');
  await expect(model.run({ text: 'a', stride: 38 }, {})).rejects.toMatchObject({
    code: 'INPUT_TOO_LONG',
    message: expect.stringContaining('stride: 38 tokens'),
  });
  await model.close();
});

it('is the same in a program', async () => {
  const tagger = await Tagger.load({ modelDirectory: path.join(FOLDER, 'roberta') });
  const { rows } = read<Golden>('roberta', 'golden.json');
  const simple = rows.filter((row) => row.strategy === 'simple' && row.stride === undefined);
  const sources = simple.map(({ text }) => texts[text] as string);
  const together = await tagger.tagBatch(sources);
  for (const [index, { spans }] of simple.entries()) {
    const source = sources[index] as string;
    const { tags, truncated } = await tagger.tag(source);
    expect(together[index]).toEqual({ tags, truncated });
    expectSame(told(tags, source), spans, source);
  }
  expect(tagger.labels).toContain('B-PER');
  expect(tagger.maxLength).toBe(40);
  await expect(tagger.tagBatch(['a', 7 as never])).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    index: 1,
    message: '[1]: expected a string, received number',
  });
  await expect(tagger.tag('a', { stride: 0.5 })).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  await tagger.close();
});
