import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { classify, jsonLines, temporaryFolder } from './command';

const folder = temporaryFolder();
afterAll(folder.remove);

const fixture = (name: string) => path.join(FIXTURES, 'files', name);

/** What a run writes, and the reasons of its rejects. */
async function outputOf(input: string, output: string, ...flags: readonly string[]) {
  const args = [input, '-o', output, '--overwrite', ...flags];
  const { code, stderr } = await classify(args, { cwd: folder.path });
  expect(stderr).not.toMatch(/^\s+at /m);
  const file = path.join(folder.path, output);
  const rejects =
    code === 4 ? readFileSync(`${file}.rejects.jsonl`, 'utf8').trim().split('\n') : [];
  return {
    content: readFileSync(file, 'utf8'),
    rejects: rejects.map((line) => JSON.parse(line) as { line: number; reason: string }),
  };
}

/** The texts of the values of `x`. */
const keptOf = (content: string) =>
  content
    .trimEnd()
    .split('\n')
    .map((line) => /"x": ?(.*?),"label"/.exec(line)?.[1]);

describe('files of other programs', () => {
  it.each([
    ['bytes.parquet', ['"//4AYQ=="', '"b2s="']],
    ['decimals.parquet', ['1.15', '0.35']],
    ['nested-decimals.parquet', Array(2).fill('{"a":12345678901234567890.12}')],
    ['unsigned.parquet', ['18446744073709551615', '5']],
    ['not-finite.parquet', ['"Infinity"', '"NaN"']],
    ['far-time.parquet', ['"+294247-01-10T04:00:54.775807Z"', '"1970-01-01T00:00:00.000000Z"']],
    ['nested-ids.jsonl', ['{"id": 9007199254740993}', '[12345678901234567891]']],
  ])('%s keeps its values', async (name, values) => {
    for (const flags of [[], ['--keep', 'x']]) {
      const { content, rejects } = await outputOf(fixture(name), 'out.jsonl', ...flags);
      expect([keptOf(content), rejects]).toEqual([values, []]);
    }
  });

  it('keeps in CSV what has no number in JSON, and integers of any length', async () => {
    const numbers = await outputOf(fixture('not-finite.parquet'), 'out.csv', '--keep', 'x');
    expect(numbers.content).toMatch(/^x,.*\nInfinity,.*\nNaN,/);
    const ids = await outputOf(fixture('nested-ids.jsonl'), 'out.csv', '--keep', 'x');
    expect(ids.content).toContain('"{""id"": 9007199254740993}"');
    expect(ids.content).toContain('[12345678901234567891]');
  });

  it('keeps the types of a Parquet file, whatever its first rows are', async () => {
    for (const [name, rows] of [
      ['late-fraction.parquet', 1030],
      ['unsigned.parquet', 2],
    ] as const) {
      await outputOf(fixture(name), 'out.parquet');
      const { content } = await outputOf('out.parquet', 'again.jsonl', '--prefix', 'p_');
      const values = content.trimEnd().split('\n');
      expect(values).toHaveLength(rows);
      if (rows === 2) expect(values[0]).toContain('"x":18446744073709551615,');
      else expect(values.at(-1)).toMatch(/"x":\d*\.\d+,/);
    }
  });

  it('rejects a text that is not UTF-8, and keeps a byte order mark', async () => {
    for (const output of ['out.jsonl', 'out.csv', 'out.parquet']) {
      const { rejects } = await outputOf(fixture('invalid-utf8.parquet'), output);
      expect(rejects).toMatchObject([{ line: 1, reason: 'text: not UTF-8' }]);
      const { content } = await outputOf(fixture('byte-order-mark.parquet'), output);
      expect(content).toContain('\ufefffilm');
    }
  });

  it('says that a compressed file is damaged', async () => {
    const args = [fixture('one-bit.csv.zst'), '-o', 'damaged.jsonl'];
    const { code, stderr } = await classify(args, { cwd: folder.path });
    expect([code, stderr]).toEqual([1, expect.stringContaining('checksum mismatch')]);
    const { content } = await outputOf(fixture('skippable-first.csv.zst'), 'skipped.jsonl');
    const right = await outputOf(fixture('right.csv'), 'right.jsonl');
    expect(content).toBe(right.content);
  });
});

describe('tables', () => {
  it('tell null from an empty text', async () => {
    const rows = [null, '', 'a'].map((x) => ({ text: 'a film', x }));
    writeFileSync(path.join(folder.path, 'rows.jsonl'), jsonLines(rows));
    const { content } = await outputOf('rows.jsonl', 'null.csv', '--keep', 'x');
    expect(content.split('\n').map((line) => line.split(',')[0])).toEqual(['x', '', '""', 'a', '']);
  });

  it('reject half a surrogate pair, which JSON keeps', async () => {
    const line = '{"text":"a film","x":"\\ud800"}\n';
    writeFileSync(path.join(folder.path, 'half.jsonl'), line);
    const { content } = await outputOf('half.jsonl', 'half.out.jsonl', '--keep', 'x');
    expect(keptOf(content)).toEqual(['"\\ud800"']);
    for (const output of ['half.csv', 'half.parquet']) {
      const { rejects } = await outputOf('half.jsonl', output);
      expect(rejects).toMatchObject([{ reason: expect.stringContaining('surrogate') }]);
    }
  });

  it('reject with a reason what does not fit the type of the first rows', async () => {
    const first = Array.from({ length: 1024 }, () => '{"text":"a film","x":1}\n').join('');
    const other = ['1.5', '9223372036854775808', '1e400', '"1"', '[1]', '-0', 'null', '-7'];
    const rest = other.map((x) => `{"text":"a film","x":${x}}\n`).join('');
    writeFileSync(path.join(folder.path, 'mixed.jsonl'), first + rest);
    const { rejects } = await outputOf('mixed.jsonl', 'mixed.parquet');
    expect(rejects.map(({ line, reason }) => [line - 1025, reason])).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => [
        index,
        'x: expected an integer of up to 64 bits, as in the first rows',
      ]),
    );
  });
});
