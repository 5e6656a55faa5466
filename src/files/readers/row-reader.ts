import { UsageError } from '../file-errors';
import { type InputFormat, inferFromName } from '../formats';
import { type InputFile, requireUnmodified } from '../input-files';
import type { JobSpec, SourceColumn } from '../job-spec';
import { isRejected, type Position, type ReadRow, type RowBatch } from '../rows';
import { readTable, tableColumns } from './csv-reader';
import { readJsonLines } from './jsonl-reader';
import { parquetColumns, readParquet } from './parquet-reader';
import { readWindows } from './recording-reader';

const DELIMITERS = { csv: ',', tsv: '\t' } as const;

/**
 * Maximum size of a chunk. Its boundaries depend only on the rows, so a resumed job has the same chunks. A crash
 * loses the work on a few chunks, which takes minutes with a slow model.
 */
const ROWS_PER_CHUNK = 1024;
const CHARACTERS_PER_CHUNK = 4 * 1024 ** 2;

/** Rows that are sorted by length for inference, and written together in input order. */
export interface Chunk<Item> {
  readonly items: readonly Item[];
  /** Position after the last row. */
  readonly end: Position;
  /** Fraction of all inputs that has been read, 0 to 1; null for standard input. */
  readonly fraction: number | null;
}

/**
 * Reads the rows of all inputs in chunks.
 *
 * @param toItem converts a row; `file` is the index of its input
 * @throws RunError if an input is unreadable or has changed
 */
export async function* readChunks<Item>(
  inputs: readonly InputFile[],
  spec: JobSpec,
  from: Position,
  toItem: (file: number, read: ReadRow) => Item,
): AsyncGenerator<Chunk<Item>, undefined> {
  const totalBytes = Math.max(
    1,
    inputs.reduce((sum, input) => sum + input.size, 0),
  );
  const { charactersPerPart = CHARACTERS_PER_CHUNK } = spec.format;
  const charactersPerChunk = Math.min(CHARACTERS_PER_CHUNK, charactersPerPart);
  let bytesBefore = 0;
  let items: Item[] = [];
  let size = 0;
  for (const [file, input] of inputs.entries()) {
    if (file >= from.input) {
      let done = file === from.input ? from.rows : 0;
      for await (const { rows, fraction } of readRows(input, spec, done)) {
        for (const read of rows) {
          done++;
          items.push(toItem(file, read));
          size += isRejected(read) ? 0 : read.size;
          if (items.length < ROWS_PER_CHUNK && size < charactersPerChunk) continue;
          const readBytes = fraction === null ? null : bytesBefore + fraction * input.size;
          yield {
            items,
            end: { input: file, rows: done },
            fraction: readBytes === null ? null : readBytes / totalBytes,
          };
          items = [];
          size = 0;
        }
      }
      requireUnmodified(input);
    }
    bytesBefore += input.size;
  }
  if (items.length > 0) yield { items, end: { input: inputs.length, rows: 0 }, fraction: 1 };
}

/**
 * Reads the rows of an input.
 *
 * @param done number of rows to skip
 * @throws UsageError, RunError
 */
export function readRows(input: InputFile, spec: JobSpec, done: number): AsyncIterable<RowBatch> {
  const { windowing, omittedColumns, requiredColumns } = spec.format;
  const { outputFormat, keep } = spec.options;
  const format = formatOf(input, spec);
  switch (format) {
    case 'jsonl': {
      const keepsLines = outputFormat === 'jsonl' && keep === 'all' && omittedColumns.length === 0;
      return skipRows(done, readJsonLines(input, keepsLines));
    }
    case 'csv':
    case 'tsv':
      return skipRows(done, readTable(input, DELIMITERS[format]));
    case 'parquet': {
      const isNeeded = (name: string): boolean =>
        keep === 'all' || requiredColumns.includes(name) || keep.includes(name);
      return readParquet(input, (columns) => columns.filter(isNeeded), done);
    }
    case 'recording':
      if (!windowing) throw new UsageError(`${input.name}: recordings require the service eeg`);
      return skipRows(done, readWindows(input, windowing));
  }
}

/**
 * Reads the columns of all input files with a header or schema, so that errors are reported before inference starts.
 *
 * @returns columns by file name
 * @throws UsageError if a file lacks a required column
 */
export async function readColumns(
  inputs: readonly InputFile[],
  spec: JobSpec,
): Promise<ReadonlyMap<string, readonly SourceColumn[]>> {
  const all = new Map<string, readonly SourceColumn[]>();
  const { keep } = spec.options;
  const required = [...spec.format.requiredColumns, ...(keep === 'all' ? [] : keep)];
  for (const input of inputs) {
    const format = formatOf(input, spec);
    if (input.path === null || format === 'jsonl' || format === 'recording') continue;
    const columns: readonly SourceColumn[] =
      format === 'parquet'
        ? (await parquetColumns(input)).map(({ name, type }) => ({ name, type }))
        : (await tableColumns(input, DELIMITERS[format])).map((name) => ({ name, type: 'string' }));
    all.set(input.name, columns);
    const names = columns.map(({ name }) => name);
    const missing = required.find((name) => !names.includes(name));
    if (missing === undefined) continue;
    throw new UsageError(
      `${input.name}: column “${missing}” is missing. Columns: ${names.join(', ')}`,
    );
  }
  return all;
}

/** Format of an input. For signal models, a table is a recording with one sample per row. */
function formatOf({ name }: InputFile, { options, format: { windowing } }: JobSpec): InputFormat {
  const format = options.inputFormat ?? inferFromName(name).format;
  if (format === null) {
    throw new UsageError(
      `${name}: unknown file extension. Use --input-format jsonl, csv, tsv, parquet or recording`,
    );
  }
  return windowing && (format === 'csv' || format === 'tsv') ? 'recording' : format;
}

/** Skips rows of a format without random access. */
async function* skipRows(
  count: number,
  batches: AsyncIterable<RowBatch>,
): AsyncGenerator<RowBatch> {
  let left = count;
  for await (const { rows, fraction } of batches) {
    if (left < rows.length) yield { rows: left > 0 ? rows.slice(left) : rows, fraction };
    left = Math.max(0, left - rows.length);
  }
}
