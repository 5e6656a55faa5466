/**
 * What the files of a model say counts as it does in sentence-transformers and transformers, or the model is not loaded
 * and the error names the key: test/parity/model_keys_golden.py.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TextInput } from '../../src/native/engine';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { reranking, zeroShot } from '../../src/tasks/registry';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { tokenEmbedding } from '../../src/tasks/token-embedding/token-embedding-task';
import { classifyZeroShot, TEMPLATE } from '../../src/tasks/zero-shot/classify';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const OPTIONS = { timeoutMs: 60_000 };

type Numbers = readonly (number | readonly (number | readonly number[])[])[];

interface Case {
  readonly name: string;
  readonly task: keyof typeof ANSWERS;
  /** By path: objects are merged into those of the base. */
  readonly files: Readonly<Record<string, object>>;
  readonly texts: readonly string[] | readonly (readonly [string, string])[];
  readonly answers?: Numbers;
  /** An error names one of them. */
  readonly rejects?: readonly string[];
}

const { cases, labels } = readFixture<{
  readonly cases: readonly Case[];
  readonly labels: readonly string[];
}>('model-keys', 'cases.json');

const folder = new Folder();
afterAll(() => folder.remove());

function build({ name, files }: Case): string {
  const directory = path.join(folder.path, name.replaceAll(' ', '-'));
  cpSync(path.join(FIXTURES, 'model-keys', 'base'), directory, { recursive: true });
  for (const [place, content] of Object.entries(files)) {
    const file = path.join(directory, place);
    mkdirSync(path.dirname(file), { recursive: true });
    const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    const whole = Array.isArray(content) ? content : { ...before, ...content };
    writeFileSync(file, JSON.stringify(whole));
  }
  return directory;
}

const ANSWERS = {
  embedding: async (directory: string, texts: readonly string[]): Promise<Numbers> => {
    const model = await TaskModel.load(embedding, directory, SCHEDULING);
    const inputs = texts.map((text) => ({ text }));
    const answers = await model.runAll(inputs, OPTIONS).finally(() => model.close());
    return answers.map(({ vector }) => [...vector]);
  },
  'token-embedding': async (directory: string, texts: readonly string[]): Promise<Numbers> => {
    const model = await TaskModel.load(tokenEmbedding, directory, SCHEDULING);
    const inputs = texts.map((text) => ({ text }));
    const answers = await model.runAll(inputs, OPTIONS).finally(() => model.close());
    return answers.map(({ vectors }) => vectors.map((vector) => [...vector]));
  },
  reranking: async (directory: string, pairs: readonly (readonly [string, string])[]) => {
    const model = await TaskModel.load(reranking, directory, SCHEDULING);
    const inputs = pairs.map(([text, pair]): TextInput => ({ text, pair, isPair: true }));
    const answers = await model.runAll(inputs, OPTIONS).finally(() => model.close());
    return answers.map(({ scores }) => [...scores]);
  },
  'text-classification': async (directory: string, texts: readonly string[]) => {
    const model = await TaskModel.load(textClassification, directory, SCHEDULING);
    const answers = await model.runAll(texts, OPTIONS).finally(() => model.close());
    return answers.map(({ scores }) => [...scores]);
  },
  'zero-shot-classification': async (directory: string, texts: readonly string[]) => {
    const model = await TaskModel.load(zeroShot, directory, SCHEDULING);
    const question = { texts, labels, template: TEMPLATE, isMultiLabel: false };
    const { answers } = await classifyZeroShot(model, question, OPTIONS).finally(() =>
      model.close(),
    );
    return answers.map((one) => labels.map((label) => one.find((o) => o.label === label)?.score));
  },
} as const;

function answersOf({ task, texts }: Case, directory: string): Promise<Numbers> {
  const answer = ANSWERS[task] as (place: string, texts: Case['texts']) => Promise<Numbers>;
  return answer(directory, texts);
}

const flat = (numbers: Numbers): readonly number[] => numbers.flat(2) as readonly number[];

it('has cases of both kinds', () => {
  expect(cases.filter(({ answers }) => answers).length).toBeGreaterThan(25);
  expect(cases.filter(({ rejects }) => rejects).length).toBeGreaterThan(12);
});

it.each(cases.filter(({ answers }) => answers))('$name: $task', async (one) => {
  const got = flat(await answersOf(one, build(one)));
  const right = flat(one.answers as Numbers);
  expect(got).toHaveLength(right.length);
  const off = right.map((value, index) => Math.abs(value - (got[index] as number)));
  expect(Math.max(...off)).toBeLessThan(TOLERANCE);
});

it.each(cases.filter(({ rejects }) => rejects))('$name: is rejected by name', async (one) => {
  const failed = answersOf(one, build(one)).then(
    () => null,
    (error: Error) => error,
  );
  const error = await failed;
  expect(error?.name).toBe('ModelFileError');
  const words = (one.rejects ?? []).filter((word) => error?.message.includes(word));
  expect(words).not.toEqual([]);
});
