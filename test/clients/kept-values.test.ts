/** Values of every type, written by pyarrow and by hand, leave `classify` as they were, or their rows are rejects. */
import path from 'node:path';
import { classify, temporaryFolder } from '../classify/command';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';

const SCRIPTS = path.join(__dirname, 'python', 'parquet');
const SCRIPT_MS = 240_000;
const SEED = String(Number(process.env.SEED ?? 20261126));
const ROWS = 300;
/** Of the strings, those that are not UTF-8. */
const INVALID = 6;
/** The rest of the rejects are halves of surrogate pairs. */
const MOST_REJECTED = 20;

interface Compared {
  readonly equal: number;
  readonly rejected: number;
  readonly different: readonly unknown[];
  readonly missing: readonly number[];
}

const folder = temporaryFolder();
let packages: string;

async function script(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: SCRIPTS, env, timeout: SCRIPT_MS, maxBuffer: 64 * 1024 ** 2 };
  return (await runFile('python3', ['kept.py', ...args], options)).stdout;
}

async function compared(source: string, output: string, ...flags: string[]): Promise<Compared> {
  const args = [source, '--prefix', 'answer_', '-o', output, '--overwrite', ...flags];
  const { code, stderr } = await classify(args, { cwd: folder.path });
  expect([stderr, code === 0 || code === 4]).toEqual([
    expect.stringMatching(/^300 rows[^\n]*\n( [^\n]*\n)*$/),
    true,
  ]);
  const kind = path.extname(source).slice(1);
  return JSON.parse(await script('check', SEED, folder.path, output, kind));
}

needs('python').describe(`kept values, seed ${SEED}`, () => {
  beforeAll(async () => {
    packages = await installPython('parquet', path.join(SCRIPTS, 'requirements.txt'));
    await script('write', SEED, folder.path);
  }, INSTALL_MS);

  afterAll(folder.remove);

  it.each([
    ['values.parquet', 'out.jsonl'],
    ['values.parquet', 'out.csv'],
    ['values.parquet', 'out.parquet'],
    ['second.parquet', 'out.jsonl'],
    ['index.parquet', 'out.parquet'],
    ['old.parquet', 'out.jsonl'],
  ])(
    'of %s are the same in %s',
    async (source, output) => {
      const { equal, rejected, different, missing } = await compared(source, output);
      expect([different, missing, rejected]).toEqual([[], [], INVALID]);
      expect(equal).toBeGreaterThan(ROWS * 50);
    },
    SCRIPT_MS,
  );

  it(
    'of times of 96 bits are the same',
    async () => {
      const { equal, ...rest } = await compared('int96.parquet', 'out.jsonl');
      expect([equal, rest]).toEqual([2 * ROWS, { rejected: 0, different: [], missing: [] }]);
    },
    SCRIPT_MS,
  );

  it.each([
    ['out.jsonl', 'all'],
    ['out.jsonl', 'id,any,number,long'],
    ['out.csv', 'all'],
    ['out.csv', 'id,number'],
    ['out.parquet', 'all'],
    ['out.parquet', 'id,long,any'],
  ])(
    'of JSONL are the same in %s with --keep %s',
    async (output, keep) => {
      const { equal, rejected, different, missing } = await compared(
        'values.jsonl',
        output,
        ...['--keep', keep],
      );
      expect([different, missing]).toEqual([[], []]);
      expect(rejected).toBeLessThan(MOST_REJECTED);
      expect(equal).toBeGreaterThanOrEqual(ROWS - MOST_REJECTED);
    },
    SCRIPT_MS,
  );
});
