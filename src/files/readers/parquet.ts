import { RunError, UsageError } from '../errors';
import type { Input } from '../inputs';
import type { Batch, ReadRow } from '../rows';

/** Rows that become objects at a time. */
const ROWS_AT_ONCE = 1024;
/** Where pages can be found by row, no more than these are held. */
const ROWS_BY_INDEX = 16_384;
/** Digits of a decimal that a double holds. */
const DECIMAL_DIGITS = 15;

type MetaData = Awaited<ReturnType<typeof open>>['metadata'];
/** Which of a file's columns are to be read. */
type Needed = (columns: readonly string[]) => readonly string[];

/** @throws as readParquet */
export async function parquetColumns(input: Input, needed: Needed): Promise<readonly string[]> {
  return (await open(input, needed)).columns;
}

/**
 * Parquet, a group of rows after the other; one group at a time is in memory, of the columns that are needed.
 *
 * @param done so many of its first rows are left out; groups of which all are done are neither read nor decoded
 * @throws UsageError where it is not Parquet, or would lose digits, RunError where rows cannot be read
 */
export async function* readParquet(
  input: Input,
  needed: Needed,
  done: number,
): AsyncGenerator<Batch> {
  const { parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const { file, metadata, columns } = await open(input, needed);
  const read = { file, metadata, columns: [...needed(columns)], compressors, parsers: PARSERS };
  for (const { start, end, useOffsetIndex } of rangesOf(metadata, done)) {
    const range = { rowStart: start, rowEnd: end, useOffsetIndex };
    const rows = await parquetReadObjects({ ...read, ...range }).catch((error: Error) => {
      throw new RunError(
        `${input.name}: rows ${start + 1} to ${end} cannot be read: ${error.message}`,
      );
    });
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const some = rows.slice(at, at + ROWS_AT_ONCE);
      yield {
        rows: some.map((fields, index) => toRow(fields, start + at + index + 1)),
        fraction: (start + at + some.length) / Number(metadata.num_rows),
      };
    }
  }
}

async function open(input: Input, needed: Needed) {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await import('hyparquet');
  const file = await asyncBufferFromFile(input.path as string);
  const metadata = await parquetMetadataAsync(file).catch((error: Error) => {
    throw new UsageError(`${input.name}: cannot be read as Parquet: ${error.message}`);
  });
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  requireExact(metadata, needed(columns), input.name);
  return { file, metadata, columns };
}

function* rangesOf({ row_groups }: MetaData, done: number) {
  let groupStart = 0;
  for (const group of row_groups) {
    const first = Math.max(done, groupStart);
    const last = groupStart + Number(group.num_rows);
    const useOffsetIndex = group.columns.every(({ offset_index_offset }) => offset_index_offset);
    const step = useOffsetIndex ? ROWS_BY_INDEX : Math.max(1, last - first);
    for (let start = first; start < last; start += step) {
      yield { start, end: Math.min(last, start + step), useOffsetIndex };
    }
    groupStart = last;
  }
}

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

/** @throws UsageError: the library makes doubles of decimals, whatever that loses */
function requireExact({ schema }: MetaData, columns: readonly string[], name: string): void {
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

function toRow(fields: Readonly<Record<string, unknown>>, line: number): ReadRow {
  let size = 0;
  for (const value of Object.values(fields)) {
    size += typeof value === 'string' || Array.isArray(value) ? value.length : 8;
  }
  return { line, fields, json: null, signal: null, size };
}
