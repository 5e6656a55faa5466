import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../file-errors';
import type { InputFile } from '../input-files';
import type { ReadRow, RejectedRow, RowBatch } from '../rows';
import { readBlocks } from './input-bytes';
import { MAX_LINE_BYTES } from './jsonl-reader';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const NEWLINE = 0x0a;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a table with a header: CSV (RFC 4180) or TSV.
 *
 * @throws UsageError without a header, RunError if the file is unreadable
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
  if (!columns) throw missingHeader(input);
}

/** Reads the column names of a table. @throws UsageError, RunError */
export async function tableColumns(input: InputFile, delimiter: ',' | '\t') {
  for await (const { records } of readRecords(input, delimiter)) {
    if (records[0]) return headerOf(records[0], input);
  }
  throw missingHeader(input);
}

function missingHeader({ name }: InputFile): UsageError {
  return new UsageError(`${name}: expected a header row, found an empty file`);
}

function headerOf(header: Record | RejectedRow, { name }: InputFile): readonly string[] {
  if ('problem' in header) throw new UsageError(`${name}, line ${header.line}: ${header.problem}`);
  const columns = header.cells.map(decode);
  const bad = columns.indexOf(null);
  if (bad >= 0) throw new UsageError(`${name}: name of column ${bad + 1} is not UTF-8`);
  const twice = columns.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined) throw new UsageError(`${name}: duplicate column “${twice}”`);
  return columns as readonly string[];
}

function toRow(read: Record | RejectedRow, columns: readonly string[]): ReadRow {
  if ('problem' in read) return read;
  const { cells, lastLine } = read;
  const line = lastLine - cells.reduce((sum, cell) => sum + countNewlines(cell), 0);
  if (cells.length !== columns.length) {
    return { line, problem: `${cells.length} cells, expected ${columns.length} as in the header` };
  }
  const fields: { [name: string]: string } = Object.create(null);
  let size = 0;
  for (const [index, cell] of cells.entries()) {
    const name = columns[index] as string;
    const text = decode(cell);
    if (text === null) return { line, problem: `${name}: not UTF-8` };
    fields[name] = text;
    size += text.length;
  }
  return { line, fields, json: null, signal: null, size };
}

interface Record {
  readonly cells: readonly Buffer[];
  /** Last line of the record in the file. */
  readonly lastLine: number;
}

interface Records {
  readonly records: readonly (Record | RejectedRow)[];
  readonly fraction: number | null;
}

/** Parses records. An unclosed quote spans the rest of the file, which is reported as one rejected row. */
async function* readRecords(input: InputFile, delimiter: string): AsyncGenerator<Records> {
  let records: Record[] = [];
  let lastLine = 0;
  const parser = parse({
    delimiter,
    encoding: null,
    // Accepts both per line; auto-detection would use the delimiter of the first line for all lines.
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE_BYTES,
    // Collects records here, because a failed stream drops records that were not read yet.
    on_record: (cells: unknown, context) => {
      lastLine = context.lines;
      records.push({ cells: cells as readonly Buffer[], lastLine });
      return null;
    },
  });
  parser.on('error', () => {}); // the callbacks below receive the error
  parser.resume();
  const parseBlock = async (call: (done: (error?: Error | null) => void) => void) => {
    const error = await new Promise<Error | null | undefined>(call);
    const parsed = error ? [...records, toRejectedRow(error, lastLine + 1)] : records;
    records = [];
    return { parsed, isLast: Boolean(error) };
  };
  let isFirst = true;
  for await (const { bytes, fraction } of readBlocks(input)) {
    // With a byte order mark, the library would return strings instead of bytes.
    const hasMark = isFirst && BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length));
    isFirst = false;
    const block = hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
    const { parsed, isLast } = await parseBlock((done) => parser.write(block, done));
    yield { records: parsed, fraction };
    if (isLast) return;
  }
  yield { records: (await parseBlock((done) => parser.end(done))).parsed, fraction: 1 };
}

/** Converts a parser error. The message of the library quotes the content and is not used. */
function toRejectedRow(error: Error, line: number): RejectedRow {
  if (!(error instanceof CsvError)) throw error;
  const problems: { readonly [code: string]: string } = {
    CSV_QUOTE_NOT_CLOSED: 'unclosed quote',
    CSV_MAX_RECORD_SIZE: `longer than ${MAX_LINE_BYTES / 1024 ** 2} MiB`,
  };
  const problem = problems[error.code] ?? `CSV error ${error.code}`;
  return { line, problem: `${problem}. The rest of the file was skipped` };
}

/** Decodes UTF-8; null if invalid. */
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
