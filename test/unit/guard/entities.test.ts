/** Checks of entities: a GLiNER model with random weights finds what it finds for the same labels alone. */
import path from 'node:path';
import { EntityRecognizer, Guard } from '../../../src/index';
import type { EntityRecognizer as Model } from '../../../src/tasks/entity-recognition/entities';
import { entityRecognition } from '../../../src/tasks/entity-recognition/entity-recognition-task';
import { Guard as Checks } from '../../../src/tasks/guard/guard';
import { checkGuardFile } from '../../../src/tasks/guard/guard-file';
import { TaskModel } from '../../../src/tasks/task-model';
import { SCHEDULING } from '../../helpers/scheduling';
import { FIXTURES } from '../../helpers/service';

const FOLDER = path.join(FIXTURES, 'gliner/bi-modernbert-marker');
const TEXT = 'Ada met \u{1f600} Charles Babbage in London; write to ann@example.org today.';
const LABELS = ['person', 'city', 'date of birth'];
const NAMES = {
  type: 'entity-recognition',
  name: 'names',
  model: 'gliner',
  action: 'redact',
  variants: [],
};
const DATA = { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'], variants: [] };

const thresholds = (value: number) => Object.fromEntries(LABELS.map((label) => [label, value]));

let recognizer: EntityRecognizer;
let model: Model & { close(): Promise<void> };

beforeAll(async () => {
  recognizer = await EntityRecognizer.load({ modelDirectory: FOLDER });
  model = await TaskModel.load(entityRecognition, FOLDER, SCHEDULING);
});

afterAll(() => Promise.all([recognizer.close(), model.close()]));

async function withGuard<Result>(
  file: object,
  run: (guard: Guard) => Promise<Result>,
): Promise<Result> {
  const guard = await Guard.load({ file, models: { gliner: FOLDER } });
  try {
    return await run(guard);
  } finally {
    await guard.close();
  }
}

it('redacts the entities of a model next to the findings of patterns', async () => {
  const threshold = 0.5;
  const expected = await recognizer.tag(TEXT, { labels: LABELS, threshold });
  expect(expected.length).toBeGreaterThan(1);
  const checks = [DATA, { ...NAMES, labels: thresholds(threshold) }];
  const { action, findings, texts, map } = await withGuard({ checks }, (guard) =>
    guard.check(TEXT),
  );
  expect(action).toBe('redact');
  const names = findings.filter(({ check }) => check === 'names');
  expect(names.map(({ label, score, start, end }) => ({ label, score, start, end }))).toEqual(
    expected,
  );
  expect(findings.filter(({ check }) => check === 'data')).toMatchObject([{ label: 'EMAIL' }]);
  expect(Guard.restore(texts[0] as string, map)).toBe(TEXT);
  expect(texts[0]).not.toContain('ann@example.org');
  for (const { start, end } of expected) expect(texts[0]).not.toContain(TEXT.slice(start, end));
});

it('has a threshold for each label: a label below its own does not hide another one', async () => {
  const all = await recognizer.tag(TEXT, { labels: LABELS, threshold: 0.3 });
  const best = all.reduce((a, b) => (b.score > a.score ? b : a));
  const labels = { ...thresholds(0.3), [best.label]: 1 };
  const { findings } = await withGuard({ checks: [{ ...NAMES, labels }] }, (guard) =>
    guard.check(TEXT),
  );
  const others = LABELS.filter((label) => label !== best.label);
  expect(findings.some(({ label }) => label === best.label)).toBe(false);
  const candidates = await model.run(
    { text: TEXT, labels: LABELS.map((name) => ({ name, prompt: name })), threshold: 0.3 },
    {},
  );
  const spans = candidates.candidates;
  const wanted = Array.from({ length: spans?.length ?? 0 }, (_, row) => spans?.at(row)).flatMap(
    (span) => (span && LABELS[span.label] !== best.label ? [span] : []),
  );
  expect(wanted.length).toBeGreaterThan(0);
  expect(findings.length).toBeGreaterThan(0);
  expect(Math.max(...findings.map(({ score }) => score))).toBe(
    Math.max(...wanted.map(({ score }) => score)),
  );
  expect(findings.every(({ label }) => others.includes(label))).toBe(true);
});

it('tells scores below the thresholds, and finds the same as without them', async () => {
  const file = checkGuardFile({ checks: [{ ...NAMES, labels: thresholds(0.9) }] });
  const guard = await Checks.open(file);
  const models = { find: () => ({ model: model as never, options: {} }) };
  const text = `Zo\u00eb und J\u00fcrgen wohnen in K\u00f6ln with 35 others, 2 dogs and a well-known actor of ${TEXT}`;
  const request = { texts: [text], direction: 'both' } as const;
  const plain = await guard.check(request, models);
  const scored = await guard.check({ ...request, scores: true }, models);
  expect(scored.findings).toEqual(plain.findings);
  expect(scored.scores?.length).toBeGreaterThan(plain.findings.length);
  const spans = scored.scores?.map(({ start, end }) => [start ?? 0, end ?? 0] as const) ?? [];
  const sorted = spans.toSorted(([a], [b]) => a - b);
  for (const [index, [start]] of sorted.slice(1).entries()) {
    expect(start).toBeGreaterThanOrEqual(sorted[index]?.[1] as number);
  }
  await guard.close();
});

it('reports the text after the last window that the limit allows', async () => {
  const long = `${TEXT} `.repeat(30);
  const checks = [{ ...NAMES, labels: thresholds(0.5) }];
  const limits = { windows: 2, on_limit: 'flag' };
  const { unchecked, findings } = await withGuard({ checks, limits }, (guard) => guard.check(long));
  expect(unchecked).toMatchObject([{ check: 'names', part: 0, limit: 'windows', action: 'flag' }]);
  const start = unchecked[0]?.start as number;
  expect(start).toBeGreaterThan(2 * TEXT.length);
  expect(start).toBeLessThan(long.length / 2);
  expect(findings.every(({ end }) => (end as number) <= start)).toBe(true);
  const whole = await withGuard({ checks }, (guard) => guard.check(long));
  expect(whole.unchecked).toEqual([]);
  expect(whole.findings.length).toBeGreaterThan(findings.length);
});

it('says what is wrong with the labels of a check', () => {
  const problemOf = (labels: object) => () =>
    checkGuardFile({ checks: [{ ...NAMES, labels }] }, 'guard.json');
  expect(problemOf({})).toThrow('guard.json: checks.0.labels: expected at least one label');
  expect(problemOf({ ' ': 0.5 })).toThrow(/^guard.json: checks\.0\.labels/);
  expect(problemOf({ a: 2 })).toThrow(/^guard.json: checks\.0\.labels\.a: /);
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`label ${i}`, 0.5]));
  expect(problemOf(many)).toThrow('checks.0.labels: expected at most 256 labels');
});

it('reads descriptions instead of the labels, and reports the labels', async () => {
  const descriptions = { person: 'city', city: 'date of birth' };
  const labels = { person: 0.4, city: 0.4, 'date of birth': 0.4 };
  const expected = await recognizer.tag(TEXT, {
    labels: { person: 'city', city: 'date of birth', 'date of birth': 'date of birth' },
    threshold: 0.4,
  });
  const found = (check: object) =>
    withGuard({ checks: [{ ...NAMES, labels, ...check }] }, async (guard) =>
      (await guard.check(TEXT)).findings.map(({ label, score, start, end }) => {
        return { label, score, start, end };
      }),
    );
  expect(await found({ descriptions })).toEqual(expected);
  expect(await found({})).not.toEqual(expected);
});

it('says what is wrong with the descriptions of labels', () => {
  const problemOf = (descriptions: object) => () =>
    checkGuardFile({ checks: [{ ...NAMES, labels: { a: 0.5 }, descriptions }] }, 'guard.json');
  expect(problemOf({ b: 'text' })).toThrow('checks.0.descriptions.b: is none of labels');
  expect(problemOf({ toString: 'text' })).toThrow('.descriptions.toString: is none of labels');
  expect(problemOf({ a: ' ' })).toThrow('checks.0.descriptions.a: expected a text');
  expect(problemOf({ a: 'x'.repeat(1001) })).toThrow(/checks\.0\.descriptions\.a: /);
});

it('does not run without a GLiNER model: on_error decides', async () => {
  const file = checkGuardFile({ checks: [{ ...NAMES, labels: thresholds(0.5) }] });
  const guard = await Checks.open(file);
  const models = {
    find: () => {
      throw new Error('"gliner" supports text classification, not entity recognition');
    },
  };
  const answer = await guard.check({ texts: [TEXT], direction: 'both' }, models);
  expect(answer).toMatchObject({ action: 'block', errors: [{ check: 'names', action: 'block' }] });
  await guard.close();
});
