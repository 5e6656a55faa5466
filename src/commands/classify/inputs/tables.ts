import { CsvError, parse } from 'csv-parse';
import { UsageError } from '../errors';
import { behind, type ReadRow, type RowReader } from '../rows';
import { InputBytes } from './bytes';
import type { Input } from './expand';
import { LONGEST_LINE_BYTES } from './jsonl';

interface Record {
  readonly record: readonly Buffer[];
  /** Of the file, up to its end. */
  readonly lines: number;
}

/** A table with a header: CSV as RFC 4180 has it, or the same with tabs. */
export class TableReader implements RowReader {
  readonly columns: readonly string[];
  readonly #bytes: InputBytes;
  readonly #batches: AsyncGenerator<readonly (Record | Skipped)[]>;
  readonly #first: readonly (Record | Skipped)[];

  private constructor(opened: Opened) {
    this.#bytes = opened.bytes;
    this.#batches = opened.batches;
    this.columns = opened.columns;
    this.#first = opened.first;
  }

  /** @throws UsageError where it has no header, RunError where it cannot be read */
  static async open(input: Input, delimiter: ',' | '\t'): Promise<TableReader> {
    const bytes = new InputBytes(input);
    const batches = readRecords(bytes, delimiter);
    const { name } = input;
    const [header, ...first] = await firstOf(batches);
    if (!header) throw new UsageError(`${name}: expected a row of column names, found none`);
    if ('problem' in header)
      throw new UsageError(`${name}, line ${header.line}: ${header.problem}`);
    const columns = header.record.map((cell) => decode(cell));
    const bad = columns.indexOf(null);
    if (bad >= 0) throw new UsageError(`${name}: the name of column ${bad + 1} is not UTF-8`);
    const twice = columns.find((column, index) => columns.indexOf(column) < index);
    if (twice !== undefined) throw new UsageError(`${name}: has two columns named “${twice}”`);
    return new TableReader({ bytes, batches, columns: columns as string[], first });
  }

  rows(done: number): AsyncIterable<readonly ReadRow[]> {
    return behind(done, this.#rows());
  }

  async *#rows(): AsyncGenerator<readonly ReadRow[]> {
    yield this.#first.map((record) => this.#toRow(record));
    for (;;) {
      const { value, done } = await this.#batches.next();
      if (done) return;
      yield value.map((record) => this.#toRow(record));
    }
  }

  fractionRead(): number | null {
    return this.#bytes.fractionRead();
  }

  async close(): Promise<void> {
    this.#bytes.close();
    await this.#batches.return(undefined);
  }

  #toRow(read: Record | Skipped): ReadRow {
    if ('problem' in read) return read;
    const { record, lines } = read;
    const newlines = record.reduce((sum, cell) => sum + countNewlines(cell), 0);
    const line = lines - newlines;
    if (record.length !== this.columns.length) {
      const problem = `has ${record.length} cells, the header has ${this.columns.length}`;
      return { line, problem };
    }
    const fields: { [name: string]: string } = Object.create(null);
    let size = 0;
    for (const [index, cell] of record.entries()) {
      const name = this.columns[index] as string;
      const text = decode(cell);
      if (text === null) return { line, problem: `${name}: is not UTF-8` };
      fields[name] = text;
      size += text.length;
    }
    return { line, fields, json: null, signal: null, size };
  }
}

/** The first that has any; none: there is nothing in the file. */
async function firstOf<Item>(batches: AsyncGenerator<readonly Item[]>): Promise<readonly Item[]> {
  for (;;) {
    const { value, done } = await batches.next();
    if (done || value.length > 0) return value ?? [];
  }
}

interface Opened {
  readonly bytes: InputBytes;
  readonly batches: AsyncGenerator<readonly (Record | Skipped)[]>;
  readonly columns: readonly string[];
  readonly first: readonly (Record | Skipped)[];
}

interface Skipped {
  readonly line: number;
  readonly problem: string;
}

/** A quote that is never closed takes the rest of the file with it: that is said, and nothing guessed. */
async function* readRecords(
  bytes: InputBytes,
  delimiter: string,
): AsyncGenerator<readonly (Record | Skipped)[]> {
  let records: Record[] = [];
  let lines = 0;
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
    on_record: (record: unknown, context) => {
      records.push({ record: record as readonly Buffer[], lines: context.lines });
      lines = context.lines;
      return null;
    },
  });
  parser.on('error', () => {}); // each call below is told
  parser.resume();
  for await (const block of withoutMark(bytes.blocks())) {
    const error = await called((done) => parser.write(block, done));
    yield [...records, ...describe(error, lines)];
    records = [];
    if (error) return;
  }
  const error = await called((done) => parser.end(done));
  yield [...records, ...describe(error, lines)];
}

/** The library takes a byte order mark for a reason to give strings. */
async function* withoutMark(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const block of blocks) {
    yield isFirst && MARK.equals(block.subarray(0, MARK.length))
      ? block.subarray(MARK.length)
      : block;
    isFirst = false;
  }
}

const MARK = Buffer.from('\ufeff');

function called(call: (done: (error?: Error | null) => void) => void): Promise<Error | null> {
  return new Promise((resolve) => call((error) => resolve(error ?? null)));
}

/** The library's own message quotes what it found. */
function describe(error: Error | null, linesBefore: number): readonly Skipped[] {
  if (!error) return [];
  if (!(error instanceof CsvError)) throw error;
  const mebibytes = LONGEST_LINE_BYTES / 1024 ** 2;
  const problems: { readonly [code: string]: string } = {
    CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
    CSV_MAX_RECORD_SIZE: `is longer than ${mebibytes} MiB`,
  };
  const problem = problems[error.code] ?? `cannot be read (${error.code})`;
  const rest = 'nothing of the file was read from here on';
  return [{ line: linesBefore + 1, problem: `${problem}: ${rest}` }];
}

/** null: it is not UTF-8. */
function decode(cell: Buffer): string | null {
  try {
    return decoder.decode(cell);
  } catch {
    return null;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function countNewlines(cell: Buffer): number {
  let count = 0;
  for (let at = cell.indexOf(10); at >= 0; at = cell.indexOf(10, at + 1)) count++;
  return count;
}
