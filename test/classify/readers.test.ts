import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { CLASSIFY } from '../../src/commands/classify/classify-command';
import { toJson } from '../../src/files/cell-values';
import { expandInputs } from '../../src/files/input-files';
import type { JobSpec } from '../../src/files/job-spec';
import { readTable } from '../../src/files/readers/csv-reader';
import { MAX_LINE_BYTES, readJsonLines } from '../../src/files/readers/jsonl-reader';
import { parquetColumns, readParquet } from '../../src/files/readers/parquet-reader';
import { readRows } from '../../src/files/readers/row-reader';
import { isRejected, type ReadRow, type RowBatch } from '../../src/files/rows';
import type { Config } from '../../src/settings/config';
import { FIXTURES } from '../helpers/service';
import { temporaryFolder } from './command';

const folder = temporaryFolder();
afterAll(folder.remove);

let files = 0;
async function inputOf(content: string | Buffer, name = 'x') {
  const file = path.join(folder.path, `${files++}-${name}`);
  writeFileSync(file, content);
  const [input] = await expandInputs([file]);
  if (!input) throw new Error('no input');
  return input;
}

async function readAll(batches: AsyncIterable<RowBatch>): Promise<readonly ReadRow[]> {
  const all: ReadRow[] = [];
  for await (const { rows } of batches) all.push(...rows);
  return all;
}

/** Line and text, or line and problem. */
function shown(rows: readonly ReadRow[]) {
  return rows.map((row) => [row.line, isRejected(row) ? row.problem : row.fields.text]);
}

async function lines(content: string | Buffer) {
  return shown(await readAll(readJsonLines(await inputOf(content), true)));
}

async function table(content: string | Buffer, delimiter: ',' | '\t' = ',') {
  return shown(await readAll(readTable(await inputOf(content), delimiter)));
}

describe('JSON lines', () => {
  it('counts lines, and passes over those of white space', async () => {
    const content = '\ufeff{"text":"a"}\r\n\n  \n{"text":"b"}\n{"text":"c\\nd"}';
    expect(await lines(content)).toEqual([
      [1, 'a'],
      [4, 'b'],
      [5, 'c\nd'],
    ]);
  });

  it('says of a bad line what is wrong, and quotes nothing of it', async () => {
    const bytes = Buffer.concat([
      Buffer.from('secret\n["secret"]\n"secret"\nnull\n{"text":"sec'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('ret"}\n{"text":"good"}\n{"text":"secret"'),
    ]);
    const rows = await lines(bytes);
    expect(rows).toEqual([
      [1, expect.stringContaining('not JSON')],
      [2, 'not a JSON object'],
      [3, 'not a JSON object'],
      [4, 'not a JSON object'],
      [5, 'not UTF-8'],
      [6, 'good'],
      [7, expect.stringContaining('not JSON')],
    ]);
    expect(JSON.stringify(rows)).not.toContain('secret');
  });

  it('passes over a line that is longer than any row, without holding it', async () => {
    const long = Buffer.alloc(MAX_LINE_BYTES + 1, 'x');
    const content = Buffer.concat([
      Buffer.from('{"text":"a"}\n'),
      long,
      Buffer.from('\n{"text":"b"}'),
    ]);
    expect(await lines(content)).toEqual([
      [1, 'a'],
      [2, 'longer than 64 MiB'],
      [3, 'b'],
    ]);
  });

  it('reads gzip of several members, whatever the file is called', async () => {
    const members = ['{"text":"a"}\n', '{"text":"b"}\n'].map((line) => gzipSync(line));
    expect(await lines(Buffer.concat(members))).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('names a file that is cut off', async () => {
    const whole = gzipSync('{"text":"a"}\n'.repeat(100));
    await expect(lines(whole.subarray(0, -9))).rejects.toThrow(/-x: read failed: .*end of file/);
  });

  it('reads an empty file as no rows', async () => {
    expect(await lines('')).toEqual([]);
  });
});

describe('tables', () => {
  it('counts the lines in which rows begin, those of quoted cells included', async () => {
    const content = '\ufefftext,id\r\n"a\nb",1\n\n"say ""c""",2\nd"e,3\n';
    expect(await table(content)).toEqual([
      [2, 'a\nb'],
      [5, 'say "c"'],
      [6, 'd"e'],
    ]);
  });

  it('says of a bad row what is wrong, and goes on', async () => {
    const content = Buffer.concat([
      Buffer.from('text,id\na,1,2\nb\nc,'),
      Buffer.from([0xff]),
      Buffer.from('\nd,4\n'),
    ]);
    expect(await table(content)).toEqual([
      [2, '3 cells, expected 2 as in the header'],
      [3, '1 cells, expected 2 as in the header'],
      [4, 'id: not UTF-8'],
      [5, 'd'],
    ]);
  });

  it('says from where on a quote took the rest of the file', async () => {
    const rows = await table('text,id\na,1\n"b,2\nc,3\n');
    expect(rows).toEqual([
      [2, 'a'],
      [3, expect.stringContaining('unclosed quote')],
    ]);
  });

  it('reads tabs', async () => {
    expect(await table('text\tid\na, b\t1\n', '\t')).toEqual([[2, 'a, b']]);
  });

  it.each([
    ['', /expected a header row/],
    ['text,text\na,b\n', /duplicate column “text”/],
  ])('refuses a header that cannot be one: %j', async (content, message) => {
    await expect(table(content)).rejects.toThrow(message);
  });
});

it('leaves out rows that are done, bad ones too', async () => {
  const rows = Array.from({ length: 50_000 }, (_, id) => `{"text":"${id}"}\n`);
  rows[20_000] = 'no JSON\n';
  const input = await inputOf(rows.join(''));
  const { toJob } = CLASSIFY.read(['x', '-o', 'x.csv', '--input-format', 'jsonl']);
  const { options } = toJob({ scheduling: {} } as Config);
  const format = { requiredColumns: [], omittedColumns: [], windowing: null, fields: [] };
  const plan: JobSpec = {
    options,
    format: { ...format, summarize: () => ({ labels: [], truncated: false }) },
  };
  const all = await readAll(readJsonLines(input, false));
  for (const done of [0, 1, 20_000, 20_001, 49_999, 50_000]) {
    const rest = await readAll(readRows(input, plan, done));
    expect(shown(rest)).toEqual(shown(all.slice(done)));
  }
});

describe('Parquet', () => {
  const fixture = (name: string) => path.join(FIXTURES, 'parquet', name);
  const expected = JSON.parse(readFileSync(fixture('rows.json'), 'utf8')) as {
    readonly text: string;
    readonly id: number;
  }[];

  it.each(['snappy', 'gzip', 'zstd', 'brotli', 'lz4', 'none'])(
    'reads what pyarrow wrote with %s, in several row groups',
    async (codec) => {
      const [input] = await expandInputs([fixture(`${codec}.parquet`)]);
      if (!input) throw new Error('no input');
      const columns = ['id', 'text', 'score', 'day', 'at', 'tags', 'flag'];
      expect(await parquetColumns(input)).toMatchObject(columns.map((name) => ({ name })));
      const rows = await readAll(readParquet(input, (all) => all, 0));
      expect(rows.map(({ line }) => line)).toEqual(expected.map((_, index) => index + 1));
      expect(rows.map((row) => (isRejected(row) ? null : row.fields.text))).toEqual(
        expected.map(({ text }) => text),
      );
      expect(rows.map((row) => (isRejected(row) ? null : row.fields.id))).toEqual(
        expected.map(({ id }) => BigInt(id)),
      );
      expect(
        isRejected(rows[0] as ReadRow) ? null : (rows[0] as { fields: object }).fields,
      ).toEqual(expect.objectContaining({ at: '2024-01-01T00:00:00.123456Z', tags: ['a', 'b'] }));
    },
  );

  it('neither reads nor decodes row groups that are done', async () => {
    const { parquetMetadataAsync, asyncBufferFromFile } = await import('hyparquet');
    const whole = await asyncBufferFromFile(fixture('snappy.parquet'));
    const { row_groups: groups } = await parquetMetadataAsync(whole);
    const second = groups[1]?.columns[0]?.meta_data;
    const start = Number(second?.dictionary_page_offset ?? second?.data_page_offset);
    const broken = readFileSync(fixture('snappy.parquet')).fill(0, 4, start);
    const input = await inputOf(broken, 'x.parquet');
    const rowsBehind = (done: number) => readAll(readParquet(input, () => ['text'], done));
    const inFirst = Number(groups[0]?.num_rows);
    await expect(rowsBehind(inFirst - 1)).rejects.toThrow(/reading rows \d+ to \d+ failed/);
    for (const done of [inFirst, inFirst + 1, expected.length - 1, expected.length]) {
      expect(shown(await rowsBehind(done))).toEqual(
        expected.slice(done).map(({ text }, index) => [done + index + 1, text]),
      );
    }
  });

  it('reads no column that is not needed', async () => {
    const [input] = await expandInputs([fixture('snappy.parquet')]);
    if (!input) throw new Error('no input');
    const rows = await readAll(readParquet(input, () => ['text'], 0));
    expect(
      isRejected(rows[0] as ReadRow) ? null : Object.keys((rows[0] as { fields: object }).fields),
    ).toEqual(['text']);
  });

  it('reads decimals with all digits', async () => {
    const [input] = await expandInputs([fixture('decimals.parquet')]);
    if (!input) throw new Error('no input');
    const rows = await readAll(readParquet(input, () => ['price'], 0));
    expect(rows.map((row) => (isRejected(row) ? row : toJson(row.fields.price)))).toEqual(['1.50']);
  });

  it('refuses what is no Parquet', async () => {
    const other = await inputOf('no Parquet at all', 'x.parquet');
    await expect(parquetColumns(other)).rejects.toThrow(/not valid Parquet/);
  });
});
