/** `libtorch-serve embed --task`: the embeddings of each task of jina-embeddings-v3. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFixture } from '../helpers/golden';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles, temporaryFolder } from './command';

const NAME = 'jina-embeddings-v3-lora';
const SOURCE = path.join(FIXTURES, 'embeddings', 'encoders', NAME);

interface Row {
  readonly task: string | null;
  readonly text: number;
  readonly mean: readonly number[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Row[] }>(
  'embeddings',
  'encoders',
  NAME,
  'tasks.json',
);

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const embed = (model: string, ...args: readonly string[]) =>
  overFiles(['embed', '--model', model, 'rows.jsonl', ...args], { cwd: folder.path });

beforeAll(() => {
  cpSync(SOURCE, inFolder('jina'), { recursive: true });
  writeFileSync(inFolder('jina/model.json'), '{}');
  const rows = answers.filter(({ task }) => task === null);
  writeFileSync(inFolder('rows.jsonl'), jsonLines(rows.map(({ text }) => ({ text: texts[text] }))));
});

afterAll(folder.remove);

it.each([
  [null, []],
  ['retrieval.query', ['--task', 'retrieval.query']],
  ['separation', ['--task', 'separation']],
  ['separation', ['--prompt-name', 'separation']],
] as const)('task %s with %j', async (task, args) => {
  const { code, stderr } = await embed(inFolder('jina'), '-o', 'out.jsonl', '--overwrite', ...args);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const lines = readFileSync(inFolder('out.jsonl'), 'utf8').trim().split('\n');
  const expected = answers.filter((row) => row.task === task);
  expect(lines).toHaveLength(expected.length);
  for (const [index, line] of lines.entries()) {
    const { embedding } = JSON.parse(line) as { embedding: number[] };
    const values = (expected[index] as Row).mean;
    const differences = values.map((value, i) => Math.abs(value - (embedding[i] as number)));
    expect(Math.max(...differences)).toBeLessThan(1e-5);
  }
});

it.each([
  [
    'an unknown task',
    inFolder('jina'),
    /--task: expected one of retrieval\.query, retrieval\.passage/,
  ],
  [
    'a model without tasks',
    path.join(FIXTURES, 'embeddings', 'encoders', 'jina-embeddings-v3'),
    /--task: this model has no tasks\. Remove the flag/,
  ],
])('rejects %s before it begins', async (_what, model, message) => {
  const { code, stderr } = await embed(model, '-o', 'rejected.jsonl', '--task', 'summary');
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(existsSync(inFolder('rejected.jsonl.partial'))).toBe(false);
});
