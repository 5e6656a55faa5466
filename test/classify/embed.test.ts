/** `libtorch-serve embed`: the vectors of SentenceTransformer.encode in every format. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFixture } from '../helpers/golden';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles, temporaryFolder } from './command';

const TOLERANCE = 1e-5;
const HEADER_BYTES = 128;

interface Golden {
  readonly prompt: string;
  readonly answers: readonly { readonly text: number; readonly values: readonly number[] }[];
}

const NAME = 'sentences/v3-cls-prompts';
const MODEL = path.join(FIXTURES, 'embeddings', NAME);
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { prompt, answers } = readFixture<Golden>('embeddings', NAME, 'golden.json');
const ROWS = answers.map(({ text }, id) => ({ id, text: texts[text] as string }));
const WIDTH = answers[0]?.values.length as number;

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const embed = (...args: readonly string[]) =>
  overFiles(['embed', '--model', MODEL, ...args], { cwd: folder.path });
const lines = (name: string) =>
  readFileSync(inFolder(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/** As it is when the model's default prompt is the one of the golden answers. */
const { prompts, default_prompt_name: standard } = JSON.parse(
  readFileSync(path.join(MODEL, 'config_sentence_transformers.json'), 'utf8'),
);
const promptName = Object.keys(prompts).find((name) => prompts[name] === prompt) as string;
const PROMPT = ['--prompt-name', promptName];

afterAll(folder.remove);

/** An array of NumPy: its shape, and its values row by row. */
function readNpy(name: string) {
  const file = readFileSync(inFolder(name));
  expect(file.subarray(0, 8).toString('latin1')).toBe('\x93NUMPY\x01\x00');
  expect(file.readUInt16LE(8)).toBe(HEADER_BYTES - 10);
  const header = file.toString('latin1', 10, HEADER_BYTES);
  expect(header).toMatch(/^\{'descr': '<f4', 'fortran_order': False, .* *\n$/);
  const [, rows, columns] = /'shape': \((\d+), (\d+)\)/.exec(header) ?? [];
  const values = new Float32Array(
    file.buffer.slice(file.byteOffset + HEADER_BYTES, file.byteOffset + file.length),
  );
  expect(values).toHaveLength(Number(rows) * Number(columns));
  return { shape: [Number(rows), Number(columns)], values };
}

beforeAll(async () => {
  writeFileSync(inFolder('rows.jsonl'), jsonLines(ROWS));
  const { code, stderr } = await embed('rows.jsonl', '-o', 'out.jsonl', ...PROMPT);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${ROWS.length} answered`)]);
});

it('answers as SentenceTransformer.encode, with the rows as they were', () => {
  expect(promptName).toBeDefined();
  const found = lines('out.jsonl');
  expect(found).toHaveLength(ROWS.length);
  for (const [index, { embedding, truncated, ...row }] of found.entries()) {
    expect(row).toEqual(ROWS[index]);
    expect(typeof truncated).toBe('boolean');
    expect(embedding).toHaveLength(WIDTH);
    const values = answers[index]?.values as readonly number[];
    const furthest = values.map((value, i) => Math.abs(value - embedding[i]));
    expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
  }
});

it('writes the same float32 into JSONL, CSV, Parquet and .npy', async () => {
  const expected = lines('out.jsonl').flatMap(({ embedding }) => embedding.map(Math.fround));
  for (const name of ['out.csv', 'out.parquet', 'out.npy', 'back.jsonl']) {
    const input = name === 'back.jsonl' ? 'out.parquet' : 'rows.jsonl';
    const prefix = name === 'back.jsonl' ? ['--prefix', 'again_'] : [];
    const { code, stderr } = await embed(input, '-o', name, ...PROMPT, ...prefix);
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
  }
  const { shape, values } = readNpy('out.npy');
  expect(shape).toEqual([ROWS.length, WIDTH]);
  expect([...values]).toEqual(expected);
  const { parquetReadObjects, asyncBufferFromFile, parquetSchema, parquetMetadataAsync } =
    await import('hyparquet');
  const file = await asyncBufferFromFile(inFolder('out.parquet'));
  const metadata = await parquetMetadataAsync(file);
  const list = parquetSchema(metadata).children.find(({ element }) => element.name === 'embedding');
  expect(list?.element).toMatchObject({ converted_type: 'LIST', repetition_type: 'REQUIRED' });
  expect(list?.children[0]?.children[0]?.element).toMatchObject({ type: 'FLOAT' });
  expect(metadata.key_value_metadata?.map(({ key }) => key)).toEqual(['ARROW:schema']);
  const { compressors } = await import('hyparquet-compressors');
  const rows = await parquetReadObjects({ file, metadata, compressors });
  expect(rows.flatMap(({ embedding }) => embedding)).toEqual(expected);
  // A list of a table that is read becomes text or JSON where it is kept.
  for (const { embedding, again_embedding: again } of lines('back.jsonl')) {
    expect(embedding.map(Math.fround)).toEqual(again.map(Math.fround));
  }
  const csv = readFileSync(inFolder('out.csv'), 'utf8').match(/"\[[^\]]*\]"/g) ?? [];
  expect(csv.flatMap((cell) => JSON.parse(JSON.parse(cell)).map(Math.fround))).toEqual(expected);
});

it('cuts vectors, gives them a length of 1, and puts a prompt before texts, as it is asked', async () => {
  const options = ['--dimensions', '3', '--normalize', 'true'];
  await embed('rows.jsonl', '-o', 'short.npy', ...PROMPT, ...options);
  const { shape, values } = readNpy('short.npy');
  expect(shape).toEqual([ROWS.length, 3]);
  for (const [index, { embedding }] of lines('out.jsonl').entries()) {
    const length = Math.hypot(...embedding.slice(0, 3));
    const vector = [...values.subarray(3 * index, 3 * index + 3)];
    for (const [i, value] of vector.entries()) expect(value).toBeCloseTo(embedding[i] / length, 5);
  }
  const other = Object.keys(prompts).find((name) => ![promptName, standard].includes(name));
  await embed('rows.jsonl', '-o', 'other.jsonl', '--prompt-name', other as string);
  expect(lines('other.jsonl')[0].embedding).not.toEqual(lines('out.jsonl')[0].embedding);
});

it.each([
  ['more dimensions than there are', ['--dimensions', '9999'], /--dimensions: expected at most/],
  ['a prompt that the model does not have', ['--prompt-name', 'x'], /expected one of .*query/],
  ['a column that is not there', ['--keep', 'none', '--text-column', 'body', 'x.csv'], /“body”/],
])('refuses before it begins: %s', async (_what, args, message) => {
  writeFileSync(inFolder('x.csv'), 'text\na\n');
  const { code, stderr } = await embed('rows.jsonl', '-o', 'refused.jsonl', ...args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(existsSync(inFolder('refused.jsonl.partial'))).toBe(false);
});

it('leaves rows without a vector out of .npy, and names them', async () => {
  const bad = '{"text":"a"}\nsecret\n{"text":7}\n{"text":"b"}\n';
  writeFileSync(inFolder('bad.jsonl'), bad);
  const { code, stderr } = await embed('bad.jsonl', '-o', 'bad.npy', '--summary', 'bad.json');
  expect([code, stderr]).toEqual([4, expect.stringContaining('2 answered, 2 rejected')]);
  expect(readNpy('bad.npy').shape).toEqual([2, WIDTH]);
  expect(lines('bad.npy.rejects.jsonl').map(({ line }) => line)).toEqual([2, 3]);
  const summary = JSON.parse(readFileSync(inFolder('bad.json'), 'utf8'));
  expect(summary).toMatchObject({ service: 'embed', answered: 2, rejected: 2, labels: {} });
  writeFileSync(inFolder('none.jsonl'), '');
  await embed('none.jsonl', '-o', 'none.npy');
  expect(readNpy('none.npy').shape).toEqual([0, WIDTH]);
});
