import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../file-errors';
import type { InputFile } from '../input-files';
import type { ReadRow, RejectedRow, RowBatch } from '../rows';
import { readBlocks } from './input-bytes';
import { LONGEST_LINE_BYTES } from './jsonl-reader';

const MARK = Buffer.from('\ufeff');
const NEWLINE = 0x0a;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A table with a header: CSV as RFC 4180 has it, or the same with tabs.
 *
 * @throws UsageError where it has no header, RunError where it cannot be read
 */
export async function* readTable(
  input: InputFile,
  delimiter: ',' | '\t',
): AsyncGenerator<RowBatch> {
  let columns: readonly string[] | null = null;
  for await (const { records, fraction } of readRecords(input, delimiter)) {
    const [first, ...rest] = records;
    if (!first) continue;
    const rows = columns ? records : rest;
    columns ??= headerOf(first, input);
    const names = columns;
    yield { rows: rows.map((record) => toRow(record, names)), fraction };
  }
  if (!columns) throw withoutHeader(input);
}

/** @throws as readTable */
export async function tableColumns(input: InputFile, delimiter: ',' | '\t') {
  for await (const { records } of readRecords(input, delimiter)) {
    if (records[0]) return headerOf(records[0], input);
  }
  throw withoutHeader(input);
}

function withoutHeader({ name }: InputFile): UsageError {
  return new UsageError(`${name}: expected a row of column names, found none`);
}

function headerOf(header: Record | RejectedRow, { name }: InputFile): readonly string[] {
  if ('problem' in header) throw new UsageError(`${name}, line ${header.line}: ${header.problem}`);
  const columns = header.cells.map(decode);
  const bad = columns.indexOf(null);
  if (bad >= 0) throw new UsageError(`${name}: the name of column ${bad + 1} is not UTF-8`);
  const twice = columns.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined) throw new UsageError(`${name}: has two columns named “${twice}”`);
  return columns as readonly string[];
}

function toRow(read: Record | RejectedRow, columns: readonly string[]): ReadRow {
  if ('problem' in read) return read;
  const { cells, lastLine } = read;
  const line = lastLine - cells.reduce((sum, cell) => sum + countNewlines(cell), 0);
  if (cells.length !== columns.length) {
    return { line, problem: `has ${cells.length} cells, the header has ${columns.length}` };
  }
  const fields: { [name: string]: string } = Object.create(null);
  let size = 0;
  for (const [index, cell] of cells.entries()) {
    const name = columns[index] as string;
    const text = decode(cell);
    if (text === null) return { line, problem: `${name}: is not UTF-8` };
    fields[name] = text;
    size += text.length;
  }
  return { line, fields, json: null, signal: null, size };
}

interface Record {
  readonly cells: readonly Buffer[];
  /** Of the file, in which it ends. */
  readonly lastLine: number;
}

interface Records {
  readonly records: readonly (Record | RejectedRow)[];
  readonly fraction: number | null;
}

/** A quote that is never closed takes the rest of the file with it: that is said, and nothing guessed. */
async function* readRecords(input: InputFile, delimiter: string): AsyncGenerator<Records> {
  let records: Record[] = [];
  let lastLine = 0;
  const parser = parse({
    delimiter,
    encoding: null,
    // Either, line by line: the library's own guess takes the first one's for all.
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE_BYTES,
    // Taken here, not from the stream: a stream that fails forgets what it has not yet given.
    on_record: (cells: unknown, context) => {
      lastLine = context.lines;
      records.push({ cells: cells as readonly Buffer[], lastLine });
      return null;
    },
  });
  parser.on('error', () => {}); // each call below is told
  parser.resume();
  const parsed = async (call: (done: (error?: Error | null) => void) => void) => {
    const error = await new Promise<Error | null | undefined>(call);
    const some = error ? [...records, describe(error, lastLine + 1)] : records;
    records = [];
    return { some, isLast: Boolean(error) };
  };
  let isFirst = true;
  for await (const { bytes, fraction } of readBlocks(input)) {
    // The library takes a byte order mark for a reason to give strings.
    const hasMark = isFirst && MARK.equals(bytes.subarray(0, MARK.length));
    isFirst = false;
    const block = hasMark ? bytes.subarray(MARK.length) : bytes;
    const { some, isLast } = await parsed((done) => parser.write(block, done));
    yield { records: some, fraction };
    if (isLast) return;
  }
  yield { records: (await parsed((done) => parser.end(done))).some, fraction: 1 };
}

/** The library's own message quotes what it found. */
function describe(error: Error, line: number): RejectedRow {
  if (!(error instanceof CsvError)) throw error;
  const problems: { readonly [code: string]: string } = {
    CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
    CSV_MAX_RECORD_SIZE: `is longer than ${LONGEST_LINE_BYTES / 1024 ** 2} MiB`,
  };
  const problem = problems[error.code] ?? `cannot be read (${error.code})`;
  return { line, problem: `${problem}: nothing of the file was read from here on` };
}

/** null: it is not UTF-8. */
function decode(cell: Buffer): string | null {
  try {
    return decoder.decode(cell);
  } catch {
    return null;
  }
}

function countNewlines(cell: Buffer): number {
  let count = 0;
  for (let at = cell.indexOf(NEWLINE); at >= 0; at = cell.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
