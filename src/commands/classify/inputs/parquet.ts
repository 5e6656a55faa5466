import { RunError, UsageError } from '../errors';
import type { FileMetaData, ReaderLibrary } from '../hyparquet';
import type { ReadRow, RowReader } from '../rows';
import type { Input } from './expand';

/** Rows that become objects at a time. */
const ROWS_AT_ONCE = 1024;
/** Where pages can be found by row, no more than these are held. */
const ROWS_BY_INDEX = 16_384;

type File = Awaited<ReturnType<ReaderLibrary['asyncBufferFromFile']>>;

/** Parquet, a group of rows after the other; one group at a time is in memory, of the columns that are needed. */
export class ParquetReader implements RowReader {
  readonly columns: readonly string[];
  readonly #name: string;
  readonly #file: File;
  readonly #metadata: FileMetaData;
  readonly #needed: (columns: readonly string[]) => readonly string[];
  #rowsRead = 0;

  private constructor(input: Input, file: File, metadata: FileMetaData, needed: Needed) {
    this.#name = input.name;
    this.#file = file;
    this.#metadata = metadata;
    this.#needed = needed;
    this.columns = topColumns(metadata);
  }

  /**
   * @param needed which of the columns are to be read
   * @throws UsageError where it is not Parquet
   */
  static async open(input: Input, needed: Needed): Promise<ParquetReader> {
    const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
    const file = await asyncBufferFromFile(input.path as string);
    const metadata = await parquetMetadataAsync(file).catch((error: Error) => {
      throw new UsageError(`${input.name}: cannot be read as Parquet: ${error.message}`);
    });
    const reader = new ParquetReader(input, file, metadata, needed);
    requireExact(metadata, needed(reader.columns), input.name);
    return reader;
  }

  async *rows(done: number): AsyncGenerator<readonly ReadRow[]> {
    for (const { start, end, byIndex } of this.#ranges(done)) {
      const rows = await this.#read(start, end, byIndex);
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
        const some = rows.slice(at, at + ROWS_AT_ONCE);
        this.#rowsRead = start + at + some.length;
        yield some.map((fields, index) => toRow(fields, start + at + index + 1));
      }
    }
  }

  fractionRead(): number | null {
    const rows = Number(this.#metadata.num_rows);
    return rows === 0 ? 1 : this.#rowsRead / rows;
  }

  async close(): Promise<void> {}

  /** Groups whose rows are all done are passed over, and neither read nor decoded. */
  *#ranges(done: number): Generator<{ start: number; end: number; byIndex: boolean }> {
    let groupStart = 0;
    for (const group of this.#metadata.row_groups) {
      const start = Math.max(done, groupStart);
      const end = groupStart + Number(group.num_rows);
      const byIndex = group.columns.every(({ offset_index_offset }) => offset_index_offset);
      const step = byIndex ? ROWS_BY_INDEX : Math.max(1, end - start);
      for (let at = start; at < end; at += step) {
        yield { start: at, end: Math.min(end, at + step), byIndex };
      }
      groupStart = end;
    }
  }

  async #read(start: number, end: number, byIndex: boolean): Promise<Record<string, unknown>[]> {
    const [{ parquetReadObjects }, { compressors }] = await Promise.all([
      import('hyparquet'),
      import('hyparquet-compressors'),
    ]);
    try {
      return await parquetReadObjects({
        file: this.#file,
        metadata: this.#metadata,
        columns: [...this.#needed(this.columns)],
        rowStart: start,
        rowEnd: end,
        useOffsetIndex: byIndex,
        compressors,
        parsers: PARSERS,
      });
    } catch (error) {
      const rows = `rows ${start + 1} to ${end}`;
      throw new RunError(`${this.#name}: ${rows} cannot be read: ${(error as Error).message}`);
    }
  }
}

type Needed = (columns: readonly string[]) => readonly string[];

/** A Date holds milliseconds: finer times stay exact as text. */
const PARSERS = {
  timestampFromMicroseconds: (micros: bigint) => timeText(micros, 1_000_000n, 6),
  timestampFromNanoseconds: (nanos: bigint) => timeText(nanos, 1_000_000_000n, 9),
};

/** 1704067200123456 µs → "2024-01-01T00:00:00.123456Z" */
function timeText(value: bigint, perSecond: bigint, digits: number): string {
  const rest = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - rest) / perSecond);
  const whole = new Date(seconds * 1000).toISOString().slice(0, -5);
  return `${whole}.${String(rest).padStart(digits, '0')}Z`;
}

/** Digits of a decimal that a double holds. */
const DECIMAL_DIGITS = 15;

/** @throws UsageError: the library makes doubles of decimals, whatever that loses */
function requireExact({ schema }: FileMetaData, columns: readonly string[], name: string): void {
  const long = schema.find(
    (element) =>
      columns.includes(element.name) &&
      element.converted_type === 'DECIMAL' &&
      (element.precision ?? 0) > DECIMAL_DIGITS,
  );
  if (!long) return;
  throw new UsageError(
    `${name}: “${long.name}” has decimals of ${long.precision} digits, which would lose some: leave it out with --keep`,
  );
}

function topColumns({ schema }: FileMetaData): readonly string[] {
  const names: string[] = [];
  let at = 1;
  const skip = (): void => {
    const { num_children = 0 } = schema[at++] ?? {};
    for (let i = 0; i < num_children; i++) skip();
  };
  while (at < schema.length) {
    names.push(schema[at]?.name as string);
    skip();
  }
  return names;
}

function toRow(fields: Readonly<Record<string, unknown>>, line: number): ReadRow {
  let size = 0;
  for (const value of Object.values(fields)) {
    size += typeof value === 'string' || Array.isArray(value) ? value.length : 8;
  }
  return { line, fields, json: null, signal: null, size };
}
