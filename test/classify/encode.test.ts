/** `libtorch-serve encode`: the embeddings of BGEM3FlagModel.encode in every format. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFixture } from '../helpers/golden';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles, temporaryFolder } from './command';

const TOLERANCE = 1e-5;

/** Written by test/parity/bge_m3_golden.py. */
interface Answer {
  readonly dense: readonly number[];
  readonly sparse: Readonly<Record<string, number>>;
  readonly colbert: readonly (readonly number[])[];
}

/** Row of an output, whose lists are parsed. */
interface Encoded {
  readonly id: number;
  readonly dense_vecs?: readonly number[];
  readonly lexical_weights?: Readonly<Record<string, number>>;
  readonly colbert_vecs?: readonly (readonly number[])[];
  readonly truncated: boolean;
}

const MODEL = path.join(FIXTURES, 'embeddings', 'bge-m3');
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Answer[] }>(
  'embeddings',
  'bge-m3',
  'golden.json',
);
const ROWS = texts.map((text, id) => ({ id, text }));
const ALL = ['--parts', 'dense,sparse,colbert', '--keep', 'id'];

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const encode = (...args: readonly string[]) =>
  overFiles(['encode', '--model', MODEL, ...args], { cwd: folder.path });
const lines = (name: string): readonly Encoded[] =>
  readFileSync(inFolder(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

function expectNear(actual: readonly number[] | undefined, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  const far = expected.map((value, i) => Math.abs(value - (actual?.[i] as number)));
  expect(Math.max(0, ...far)).toBeLessThan(TOLERANCE);
}

function expectAnswers(rows: readonly Encoded[]): void {
  expect(rows.map(({ id }) => Number(id))).toEqual(ROWS.map(({ id }) => id));
  for (const [index, row] of rows.entries()) {
    const { dense, sparse, colbert } = answers[index] as Answer;
    expectNear(row.dense_vecs, dense);
    const ids = Object.keys(sparse);
    const weights = row.lexical_weights ?? {};
    expect(new Set(Object.keys(weights))).toEqual(new Set(ids));
    expectNear(
      ids.map((id) => weights[id] as number),
      Object.values(sparse),
    );
    expect(row.colbert_vecs).toHaveLength(colbert.length);
    for (const [token, vector] of colbert.entries()) expectNear(row.colbert_vecs?.[token], vector);
  }
}

beforeAll(async () => {
  writeFileSync(inFolder('rows.jsonl'), jsonLines(ROWS));
  const { code, stderr } = await encode('rows.jsonl', '-o', 'all.jsonl', ...ALL);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${ROWS.length} answered`)]);
});

afterAll(folder.remove);

it('writes the embeddings of FlagEmbedding to JSONL', () => expectAnswers(lines('all.jsonl')));

it('writes the same numbers to CSV and Parquet', async () => {
  for (const name of ['all.csv', 'all.parquet']) {
    const { code, stderr } = await encode('rows.jsonl', '-o', name, ...ALL);
    expect([code, stderr]).toEqual([0, expect.stringContaining('answered')]);
  }
  const { parquetReadObjects, asyncBufferFromFile } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = await asyncBufferFromFile(inFolder('all.parquet'));
  const rows = await parquetReadObjects({ file, compressors });
  const parsed = rows.map(({ lexical_weights, colbert_vecs, ...row }) => ({
    ...row,
    lexical_weights: JSON.parse(lexical_weights),
    colbert_vecs: JSON.parse(colbert_vecs),
  })) as Encoded[];
  expectAnswers(parsed);
  const [head, ...records] = readFileSync(inFolder('all.csv'), 'utf8').trim().split('\n');
  expect(head).toBe('id,dense_vecs,lexical_weights,colbert_vecs,truncated');
  const cells = records.map((record) => [...record.matchAll(/"((?:[^"]|"")*)"/g)]);
  const fromCsv = cells.map((quoted, id) => {
    const [dense_vecs, lexical_weights, colbert_vecs] = quoted.map(([, text = '']) =>
      JSON.parse(text.replaceAll('""', '"')),
    );
    return { id, dense_vecs, lexical_weights, colbert_vecs, truncated: false };
  });
  expectAnswers(fromCsv);
});

it('returns only the requested embeddings, of truncated texts', async () => {
  await encode('rows.jsonl', '-o', 'dense.jsonl', '--keep', 'id');
  expect(Object.keys(lines('dense.jsonl')[0] ?? {})).toEqual(['id', 'dense_vecs', 'truncated']);
  const short = ['--parts', 'sparse,colbert', '--max-length', '4', '--keep', 'none'];
  await encode('rows.jsonl', '-o', 'short.jsonl', ...short);
  const found = lines('short.jsonl');
  expect(Object.keys(found[0] ?? {})).toEqual(['lexical_weights', 'colbert_vecs', 'truncated']);
  for (const { colbert_vecs, truncated } of found) {
    expect(colbert_vecs?.length).toBeLessThanOrEqual(3);
    if (truncated) expect(colbert_vecs).toHaveLength(3);
  }
  expect(found.some(({ truncated }) => truncated)).toBe(true);
});

it('rejects rows without a text, and continues an interrupted job only with equal flags', async () => {
  writeFileSync(inFolder('bad.jsonl'), '{"text":"a"}\n{"text":7}\n');
  const { code, stderr } = await encode('bad.jsonl', '-o', 'bad.out.jsonl', '--resume');
  expect([code, stderr]).toEqual([4, expect.stringContaining('1 answered, 1 rejected')]);
  const other = await encode('bad.jsonl', '-o', 'bad.out.jsonl', '--resume', '--parts', 'sparse');
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('parts')]);
});

it('writes ColBERT vectors of few characters together, to limit the memory', async () => {
  writeFileSync(inFolder('long.jsonl'), jsonLines(Array(4).fill({ text: 'a '.repeat(300_000) })));
  const { parquetMetadataAsync, asyncBufferFromFile } = await import('hyparquet');
  for (const [parts, groups] of [
    ['dense', 1],
    ['dense,colbert', 2],
  ] as const) {
    await encode('long.jsonl', '-o', `${parts}.parquet`, '--keep', 'none', '--parts', parts);
    const file = await asyncBufferFromFile(inFolder(`${parts}.parquet`));
    expect((await parquetMetadataAsync(file)).row_groups).toHaveLength(groups);
  }
});

it.each([
  ['an unknown part', ['--parts', 'dense,late'], /--parts: expected some of dense,sparse,colbert/],
  ['a maximum below 3', ['--max-length', '2'], /--max-length: expected a whole number of tokens/],
  ['.npy', ['--output-format', 'npy'], /npy/],
])('rejects %s before it begins', async (_what, args, message) => {
  const { code, stderr } = await encode('rows.jsonl', '-o', 'refused.jsonl', ...args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

it('rejects other models', async () => {
  const model = path.join(FIXTURES, 'embeddings', 'sentences', 'v3-cls-prompts');
  const args = ['encode', '--model', model, 'rows.jsonl', '-o', 'refused.jsonl'];
  const { code, stderr } = await overFiles(args, { cwd: folder.path });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--model: expected bge-m3, a folder'),
  ]);
});
