import { gunzipSync } from 'node:zlib';
import { CellError } from '../cell-values';
import { RunError, UsageError } from '../file-errors';
import type { InputFile } from '../input-files';
import type { ReadRow, RowBatch } from '../rows';
import { columnsOf, type MetaData, type ParquetColumn, plainMetadata } from './parquet-columns';

/** Rows that become objects at a time. */
const ROWS_AT_ONCE = 1024;
/** Where pages can be found by row, no more than these are held. */
const ROWS_BY_INDEX = 16_384;

/** Which of a file's columns are to be read. */
type Needed = (columns: readonly string[]) => readonly string[];

/** @throws as readParquet */
export async function parquetColumns(input: InputFile): Promise<readonly ParquetColumn[]> {
  return (await open(input)).columns;
}

/**
 * Parquet, a group of rows after the other; one group at a time is in memory, of the columns that are needed.
 *
 * @param done so many of its first rows are left out; groups of which all are done are neither read nor decoded
 * @throws UsageError where it is not Parquet, RunError where rows cannot be read
 */
export async function* readParquet(
  input: InputFile,
  needed: Needed,
  done: number,
): AsyncGenerator<RowBatch> {
  const { file, metadata, columns: all } = await open(input);
  const names = needed(all.map(({ name }) => name));
  const columns = all.filter(({ name }) => names.includes(name));
  const readRange = await openRanges(file, plainMetadata(metadata), columns);
  for (const { start, end, useOffsetIndex } of rangesOf(metadata, done)) {
    const rows = await readRange(start, end, useOffsetIndex).catch((error: Error) => {
      throw new RunError(
        `${input.name}: rows ${start + 1} to ${end} cannot be read: ${error.message}`,
      );
    });
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const some = rows.slice(at, at + ROWS_AT_ONCE);
      yield {
        rows: some.map((values, index) => toRow(values, columns, start + at + index + 1)),
        fraction: (start + at + some.length) / Number(metadata.num_rows),
      };
    }
  }
}

async function open(input: InputFile) {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
  const file = await asyncBufferFromFile(input.path as string);
  try {
    const metadata = await parquetMetadataAsync(file, { geoparquet: false });
    return { file, metadata, columns: columnsOf(metadata, input.name) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${input.name}: cannot be read as Parquet: ${(error as Error).message}`);
  }
}

/** Rows as arrays of stored values, in the order of the columns. */
async function openRanges(
  file: Awaited<ReturnType<typeof open>>['file'],
  metadata: MetaData,
  columns: readonly ParquetColumn[],
) {
  const { parquetRead } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const read = {
    file,
    metadata,
    columns: columns.map(({ key }) => key),
    utf8: false,
    parsers: { timestampFromNanoseconds: (nanos: bigint) => nanos },
    // Of the library's own, this one verifies checksums.
    compressors: { ...compressors, GZIP: (bytes: Uint8Array) => gunzipSync(bytes) },
  };
  return async (rowStart: number, rowEnd: number, useOffsetIndex: boolean) => {
    let rows: unknown[][] = [];
    const onComplete = (all: unknown[][]) => {
      rows = all;
    };
    const range = { rowStart, rowEnd, useOffsetIndex, rowFormat: 'array' as const };
    // The library resolves with no rows where there are no columns.
    if (columns.length > 0) await parquetRead({ ...read, ...range, onComplete });
    else rows = Array.from({ length: rowEnd - rowStart }, () => []);
    // A null that is a list is undefined, too.
    const isMissing = (value: unknown, at: number) =>
      value === undefined && columns[at]?.isNested === false;
    if (rows.length !== rowEnd - rowStart || rows.some((row) => row.some(isMissing))) {
      throw new Error('a column has fewer values than the file has rows');
    }
    return rows;
  };
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

function toRow(
  values: readonly unknown[],
  columns: readonly ParquetColumn[],
  line: number,
): ReadRow {
  const fields: { [name: string]: unknown } = Object.create(null);
  let size = 0;
  for (const [index, { name, decode }] of columns.entries()) {
    try {
      const value = decode(values[index]);
      size += typeof value === 'string' || Array.isArray(value) ? value.length : 8;
      fields[name] = value;
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      return { line, problem: `${name}: ${error.message}` };
    }
  }
  return { line, fields, json: null, signal: null, size };
}
