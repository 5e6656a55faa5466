import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { seededRandom } from '../helpers/random';
import { classify, jsonLines, temporaryFolder } from './command';

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const write = (name: string, content: string | Buffer) => writeFileSync(inFolder(name), content);
const read = (name: string): string => readFileSync(inFolder(name), 'utf8');
const objects = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const run = (...args: readonly string[]) => classify(args, { cwd: folder.path });

const random = seededRandom(7);
const ROWS = Array.from({ length: 3000 }, (_, id) => {
  const words = Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
    Math.floor(36 ** 4 * random()).toString(36),
  );
  const text = id % 5 ? words.join(' ') : `"${words.join(', ')}"\n喜悦`;
  return { id, text, weight: id / 4, tag: id % 3 ? null : 't' };
});
let expected: readonly Record<string, unknown>[];

beforeAll(async () => {
  write('rows.jsonl', jsonLines(ROWS));
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const table = ROWS.map(({ id, text, weight }) => `${id},${quoted(text)},${weight}`);
  write('rows.csv', ['id,text,weight', ...table].join('\r\n'));
  const { code, stderr } = await run('rows.jsonl', '-o', 'rows-out.jsonl');
  expect([code, stderr]).toEqual([0, expect.stringContaining('3,000 answered, 0 rejected')]);
  expected = objects(read('rows-out.jsonl'));
});

afterAll(folder.remove);

it('keeps the rows, their order and all that is in them', () => {
  expect(expected.length).toBe(ROWS.length);
  for (const [i, row] of ROWS.entries()) {
    const { label, score, truncated, ...rest } = expected[i] as Record<string, unknown>;
    expect(rest).toEqual(row);
    expect([label, score, truncated].map((value) => typeof value)).toEqual([
      ...['string', 'number', 'boolean'],
    ]);
  }
  expect(new Set(expected.map(({ label }) => label)).size).toBeGreaterThan(1);
  expect(readdirSync(folder.path).filter((name) => name.startsWith('rows-out'))).toEqual([
    'rows-out.jsonl',
  ]);
});

describe('formats', () => {
  it('writes gzip and zstd that others read', async () => {
    await run('rows.jsonl', '-o', 'x.jsonl.gz');
    expect(gunzipSync(readFileSync(inFolder('x.jsonl.gz'))).toString()).toBe(
      read('rows-out.jsonl'),
    );
    await run('rows.jsonl', '-o', 'x.jsonl.zst');
    const text = Buffer.from(decompress(readFileSync(inFolder('x.jsonl.zst')))).toString();
    expect(text).toBe(read('rows-out.jsonl'));
  });

  it('reads what it writes: CSV, zstd and Parquet, there and back', async () => {
    const kept = ['--keep', 'id,text,weight'];
    expect((await run('rows.csv', '-o', '1.csv.zst')).code).toBe(0);
    expect((await run('1.csv.zst', '-o', '2.parquet', ...kept, '--compression', 'zstd')).code).toBe(
      0,
    );
    expect((await run('2.parquet', '-o', '3.jsonl', '--prefix', 'again_')).code).toBe(0);
    const rows = objects(read('3.jsonl'));
    expect(rows.length).toBe(ROWS.length);
    for (const [i, row] of rows.entries()) {
      const { id, text, weight } = ROWS[i] as (typeof ROWS)[number];
      const { label, score } = expected[i] as Record<string, unknown>;
      // Of a table all cells are text.
      expect(row).toMatchObject({ id: String(id), text, weight: String(weight), label, score });
      expect([row.again_label, row.again_score]).toEqual([label, score]);
    }
  });

  it('keeps the types of JSON in Parquet, and integers of 64 bits', async () => {
    const big =
      '{"text":"a","n":9007199254740993,"x":0.5,"ok":true,"list":[1,{"a":null}],"none":null}\n';
    write(
      'typed.jsonl',
      `${jsonLines(ROWS.slice(0, 10).map((row) => ({ ...row, n: 1, x: 1.5, ok: false })))}`,
    );
    await run('typed.jsonl', '-o', 'typed.parquet');
    await run('typed.parquet', '-o', 'typed-back.jsonl', '--prefix', 'b_');
    for (const [i, row] of objects(read('typed-back.jsonl')).entries()) {
      expect(row).toMatchObject({ ...ROWS[i], n: 1, x: 1.5, ok: false });
    }
    write('big.jsonl', big);
    await run('big.jsonl', '-o', 'big-out.jsonl');
    expect(read('big-out.jsonl')).toContain(big.slice(0, -2));
    const kept = await run('big.jsonl', '-o', 'big-kept.jsonl', '--keep', 'n');
    expect(kept.code).toBe(0);
    expect(read('big-kept.jsonl')).toMatch(/^\{"n":9007199254740993,/);
  });

  it('takes whatever a column holds into CSV, and holds Parquet to its types', async () => {
    const ids = [1, 'a', null, true, [1], 2.5];
    const others = ids.map((id) => ({ id, text: 'x' }));
    write('mixed.jsonl', jsonLines([...ROWS.slice(0, 1100), ...others]));
    const args = ['mixed.jsonl', '--id-column', 'id', '-o'];
    expect((await run(...args, 'mixed.csv')).code).toBe(0);
    const cells = read('mixed.csv').trimEnd().split('\n').slice(-6);
    expect(cells.map((line) => line.replace(/,[^,]+,[^,]+,[^,]+$/, ''))).toEqual([
      ...['1', 'a', '', 'true', '[1]', '2.5'],
    ]);
    expect((await run(...args, 'mixed.parquet')).code).toBe(4);
    const rejects = objects(read('mixed.parquet.rejects.jsonl'));
    expect(rejects.map(({ line }) => line)).toEqual([1102, 1104, 1105, 1106]);
    expect(rejects[0]?.reason).toMatch(/^id: expected an integer/);
  });

  it('takes several files and quoted patterns, in their order', async () => {
    write('part-2.jsonl', jsonLines(ROWS.slice(0, 10)));
    write('part-10.jsonl.gz', gzipSync(jsonLines(ROWS.slice(10, 20))));
    const { code } = await run('rows.csv', 'part-*', '-o', 'many.jsonl', '--id-column', 'id');
    expect(code).toBe(0);
    const ids = objects(read('many.jsonl')).map(({ id }) => Number(id));
    // As names are sorted: 10 is before 2.
    const parts = [...ROWS.slice(10, 20), ...ROWS.slice(0, 10)];
    expect(ids).toEqual([...ROWS, ...parts].map(({ id }) => id));
  });
});

describe('pipes', () => {
  it('reads and writes them, compressed or not, and says the rest on standard error', async () => {
    const stdin = gzipSync(jsonLines(ROWS));
    const args = ['-', '--input-format', 'jsonl', '-o', '-'];
    const { code, stdout, stderr } = await classify(args, { cwd: folder.path, stdin });
    expect([code, stdout.toString()]).toEqual([0, read('rows-out.jsonl')]);
    expect(stderr).toContain('3,000 answered');
  });

  it('says rejects on standard error where there is no file for them', async () => {
    const stdin = Buffer.from('{"text":"good"}\nsecret\n');
    const args = ['-', '--input-format', 'jsonl', '-o', '-', '--output-format', 'csv'];
    const { code, stdout, stderr } = await classify(args, { cwd: folder.path, stdin });
    expect([code, stdout.toString().split('\n').length]).toEqual([4, 3]);
    expect(stderr).toContain('{"file":"-","line":2,"reason":"not JSON"');
    expect(stderr).not.toContain('secret');
  });

  it('ends when its reader has gone, and when it was wrong from the start', async () => {
    const closed = await classify(['rows.jsonl', 'rows.csv', '-o', '-', '--keep', 'text'], {
      cwd: folder.path,
      onStart: (child: ChildProcess) => child.stdout?.once('data', () => child.stdout?.destroy()),
    });
    expect([closed.code, closed.stderr]).toEqual([1, expect.stringContaining('write failed')]);
    // The writer of this pipe never ends it.
    const stdin = 'open';
    const pipe = ['-', '--input-format', 'jsonl', '-o', 'never.jsonl'];
    const line = '{"text":"a","label":1}\n'.repeat(5000);
    const wrong = await classify(pipe, {
      cwd: folder.path,
      stdin,
      onStart: (child) => child.stdin?.write(line),
    });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--prefix')]);
    expect(existsSync(inFolder('never.jsonl.partial'))).toBe(false);
  });
});

describe('what goes wrong', () => {
  it('puts every bad row into the rejects, with its line and its reason', async () => {
    write(
      'bad.jsonl',
      '{"text":"a"}\nsecret\n\n{"tex":"b"}\n{"text":7}\n{"text":" \\t"}\n{"text":"c"}',
    );
    const { code, stderr } = await run('bad.jsonl', '-o', 'bad-out.jsonl', '--summary', 'bad.json');
    expect(code).toBe(4);
    expect(objects(read('bad-out.jsonl')).map(({ text }) => text)).toEqual(['a', 'c']);
    const rejects = objects(read('bad-out.jsonl.rejects.jsonl'));
    expect(rejects.map(({ file, line }) => [file, line])).toEqual(
      [2, 4, 5, 6].map((line) => ['bad.jsonl', line]),
    );
    expect(rejects.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('not JSON'),
      'text: there is no such column',
      'text: expected a string',
      'text: is empty',
    ]);
    const { seconds, labels, ...summary } = JSON.parse(read('bad.json'));
    expect(summary).toEqual({
      service: 'sentiment',
      model: { name: null, version: null },
      inputs: 1,
      output: 'bad-out.jsonl',
      rejects: 'bad-out.jsonl.rejects.jsonl',
      rows: 6,
      answered: 2,
      rejected: 4,
      truncated: 0,
    });
    expect(Object.values<number>(labels).reduce((sum, times) => sum + times)).toBe(2);
    expect(seconds).toBeGreaterThan(0);
    expect(stderr).not.toContain('secret');
  });

  it.each([
    ['a file that is not there', ['nowhere.csv'], /nowhere.csv: file not found/],
    ['a pattern without files', ['no*.csv'], /no\*\.csv: no file matches this pattern/],
    ['a file twice', ['rows.csv', './rows.*v'], /duplicate input/],
    [
      'a column that no table has',
      ['rows.csv', '--text-column', 'body'],
      /column “body” is missing.*id, text/,
    ],
    ['a column to keep that is not there', ['rows.csv', '--keep', 'x'], /column “x” is missing/],
    ['a folder', ['.'], /found a folder/],
    ['an unknown setting', ['rows.csv', '--wrokers', '2'], /Unknown option '--wrokers'/],
    ['a wrong setting', ['rows.csv', '--workers', 'two'], /WORKERS: expected an integer/],
    ['an output without its folder', ['rows.csv', '-o', 'no/x.csv'], /folder not found/],
    ['an output that is the input', ['rows.csv', '-o', 'rows.csv'], /is also the input rows.csv/],
    [
      'an output that is no file',
      ['rows.csv', '-o', '/dev/null', '--output-format', 'csv'],
      /expected a regular file/,
    ],
    ['an output that is there', ['rows.csv', '-o', 'rows-out.jsonl'], /file exists.*--overwrite/],
  ])('says before it begins: %s', async (_what, args, message) => {
    const output = args.includes('-o') ? [] : ['-o', 'refused.jsonl'];
    const { code, stderr } = await run(...args, ...output);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('refused'))).toEqual([]);
  });

  it('says which file is cut off, keeps what was done, and which model cannot be loaded', async () => {
    const whole = gzipSync(jsonLines(ROWS));
    write('cut.jsonl.gz', whole.subarray(0, whole.length - 20));
    const cut = await run('cut.jsonl.gz', '-o', 'cut.jsonl');
    expect([cut.code, cut.stderr]).toEqual([1, expect.stringMatching(/cut.jsonl.gz: read failed/)]);
    const model = await classify(['rows.jsonl', '-o', 'm.jsonl'], {
      cwd: folder.path,
      env: { SENTIMENT_MODEL_DIR: inFolder('no-model') },
    });
    expect([model.code, model.stderr]).toEqual([
      1,
      expect.stringContaining('expected a model directory'),
    ]);
  });
});
