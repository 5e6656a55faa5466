/** Readers of Parquet take the vectors that `libtorch-serve embed` writes for lists of one length. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { jsonLines, overFiles, temporaryFolder } from '../classify/command';
import { readFixture } from '../helpers/golden';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { FIXTURES } from '../helpers/service';

const SCRIPTS = path.join(__dirname, 'python', 'parquet');
const SCRIPT_MS = 240_000;
const MODEL = path.join(FIXTURES, 'embeddings', 'sentences', 'v3-cls-prompts');
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const ROWS = [
  { n: 1, text: texts[0], x: 0.5, ok: true, name: 'a', list: [1, 'b'] },
  { n: 2, text: 'It rains.', x: 1.5, ok: false, name: null, list: { c: 2 } },
  { n: null, text: 'A quiet, funny film.', x: null, ok: null, name: '喜悦', list: null },
];

interface Told {
  readonly pyarrow: Readonly<Record<string, readonly [type: string, nullable: boolean]>>;
  readonly polars: Readonly<Record<string, string>>;
  readonly vectors: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly others: readonly Readonly<Record<string, unknown>>[];
}

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const options = { cwd: folder.path };
let packages: string;

/** What the readers say of the rows, embedded into a file of this name. */
async function readers(name: string, ...args: readonly string[]): Promise<Told> {
  const all = ['embed', '--model', MODEL, 'rows.jsonl', '-o', name, ...args];
  const { code, stderr } = await overFiles(all, options);
  expect([code, stderr]).toEqual([0, expect.stringContaining('3 answered')]);
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await runFile('python3', ['vectors.py', inFolder(name)], {
    cwd: SCRIPTS,
    env,
    timeout: SCRIPT_MS,
  });
  return JSON.parse(stdout);
}

needs('python').describe('pyarrow, polars and duckdb', () => {
  beforeAll(async () => {
    packages = await installPython('parquet', path.join(SCRIPTS, 'requirements.txt'));
    writeFileSync(inFolder('rows.jsonl'), jsonLines(ROWS));
    await overFiles(['embed', '--model', MODEL, 'rows.jsonl', '-o', 'rows.out.jsonl'], options);
  }, INSTALL_MS);

  afterAll(folder.remove);

  it(
    'read fixed-size lists of float32, beside columns of every type',
    async () => {
      const { pyarrow, polars, vectors, others } = await readers('all.parquet');
      const list = 'fixed_size_list<element: float not null>[16]';
      expect(pyarrow).toEqual({
        n: ['int64', true],
        text: ['string', true],
        x: ['double', true],
        ok: ['bool', true],
        name: ['string', true],
        list: ['string', true],
        embedding: [list, false],
        truncated: ['bool', false],
      });
      expect(polars).toMatchObject({ n: 'Int64', embedding: 'Array(Float32, shape=(16,))' });
      const embedding = readFileSync(inFolder('rows.out.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).embedding.map(Math.fround));
      expect(embedding).toHaveLength(ROWS.length);
      for (const reader of ['pyarrow', 'polars', 'duckdb']) {
        expect(vectors[reader]?.map((vector) => vector.map(Math.fround))).toEqual(embedding);
      }
      for (const [index, row] of others.entries()) {
        const { list: kept, ...rest } = ROWS[index] as (typeof ROWS)[number];
        expect(row).toMatchObject(rest);
        expect(row.list).toEqual(kept === null ? null : JSON.stringify(kept));
      }
    },
    SCRIPT_MS,
  );
});
