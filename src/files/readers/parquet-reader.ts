import { gunzipSync } from 'node:zlib';
import { CellError } from '../cell-values';
import { RunError, UsageError } from '../file-errors';
import type { InputFile } from '../input-files';
import type { ReadRow, RowBatch } from '../rows';
import { columnsOf, type MetaData, type ParquetColumn, plainMetadata } from './parquet-columns';

/** Rows per batch. */
const BATCH_ROWS = 1024;
/** Maximum number of rows in memory for files with an offset index. */
const ROWS_PER_INDEXED_READ = 16_384;

/** Selects the columns to read. */
type ColumnSelection = (columns: readonly string[]) => readonly string[];

/** Reads the columns of a file. @throws UsageError if the file is not Parquet */
export async function parquetColumns(input: InputFile): Promise<readonly ParquetColumn[]> {
  return (await open(input)).columns;
}

/**
 * Reads Parquet by row group: one group of the selected columns is in memory. Page checksums are not verified, because
 * hyparquet has no option for it.
 *
 * @param done number of rows to skip; finished row groups are not read
 * @throws UsageError if the file is not Parquet, RunError if rows are unreadable
 */
export async function* readParquet(
  input: InputFile,
  select: ColumnSelection,
  done: number,
): AsyncGenerator<RowBatch> {
  const { file, metadata, columns: all } = await open(input);
  const names = select(all.map(({ name }) => name));
  const columns = all.filter(({ name }) => names.includes(name));
  const readRange = await openRanges(file, plainMetadata(metadata), columns);
  for (const { start, end, useOffsetIndex } of rangesOf(metadata, done)) {
    const rows = await readRange(start, end, useOffsetIndex).catch((error: Error) => {
      throw new RunError(
        `${input.name}: reading rows ${start + 1} to ${end} failed: ${error.message}`,
      );
    });
    for (let at = 0; at < rows.length; at += BATCH_ROWS) {
      const batch = rows.slice(at, at + BATCH_ROWS);
      yield {
        rows: batch.map((values, index) => toRow(values, columns, start + at + index + 1)),
        fraction: (start + at + batch.length) / Number(metadata.num_rows),
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
    throw new UsageError(`${input.name}: not valid Parquet: ${(error as Error).message}`);
  }
}

/** Returns a function that reads a range of rows as arrays of stored values, in column order. */
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
    // Unlike the gzip decoder of the library, this one verifies checksums.
    compressors: { ...compressors, GZIP: (bytes: Uint8Array) => gunzipSync(bytes) },
  };
  return async (rowStart: number, rowEnd: number, useOffsetIndex: boolean) => {
    let rows: unknown[][] = [];
    const onComplete = (read: unknown[][]) => {
      rows = read;
    };
    const range = { rowStart, rowEnd, useOffsetIndex, rowFormat: 'array' as const };
    // Without columns, the library returns no rows.
    if (columns.length > 0) await parquetRead({ ...read, ...range, onComplete });
    else rows = Array.from({ length: rowEnd - rowStart }, () => []);
    // The library represents a null list as undefined as well.
    const isMissing = (value: unknown, at: number) =>
      value === undefined && columns[at]?.isNested === false;
    if (rows.length !== rowEnd - rowStart || rows.some((row) => row.some(isMissing))) {
      throw new Error('a column has fewer values than rows');
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
    const step = useOffsetIndex ? ROWS_PER_INDEXED_READ : Math.max(1, last - first);
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
