import { UsageError } from '../errors';
import { type InputFormat, type Keep, readName } from '../formats';
import type { Input } from '../inputs';
import type { Batch } from '../rows';
import { readJsonLines } from './jsonl';
import { parquetColumns, readParquet } from './parquet';
import { readTable, tableColumns } from './table';
import { type Cutting, readWindows } from './windows';

/** What decides how an input is read. */
export interface Reading {
  /** null: names say it. */
  readonly inputFormat: InputFormat | null;
  readonly keep: Keep;
  /** Whether rows keep the line of JSON that they were. */
  readonly keepsLines: boolean;
  /** Columns that each row must have. */
  readonly needed: readonly string[];
  /** null: there are no recordings for this model. */
  readonly cutting: Cutting | null;
}

/**
 * The rows of an input.
 *
 * @param done so many of its first rows are left out
 * @throws UsageError, RunError
 */
export function readRows(input: Input, reading: Reading, done: number): AsyncIterable<Batch> {
  const { cutting } = reading;
  const format = formatOf(input, reading);
  switch (format) {
    case 'jsonl':
      return behind(done, readJsonLines(input, reading.keepsLines));
    case 'csv':
    case 'tsv':
      return behind(done, readTable(input, delimiterOf(format)));
    case 'parquet':
      return readParquet(input, (columns) => neededOf(columns, reading), done);
    case 'recording':
      if (!cutting) throw new UsageError(`${input.name}: recordings are for eeg`);
      return behind(done, readWindows(input, cutting));
  }
}

/**
 * Reads the columns of every file before hours are spent on the first ones.
 *
 * @returns columns of the files that say them, by name
 * @throws UsageError that names the file
 */
export async function readColumns(
  inputs: readonly Input[],
  reading: Reading,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = new Map<string, readonly string[]>();
  const { keep, needed } = reading;
  for (const input of inputs) {
    const format = formatOf(input, reading);
    if (input.path === null || format === 'jsonl' || format === 'recording') continue;
    const columns =
      format === 'parquet'
        ? await parquetColumns(input, (columns) => neededOf(columns, reading))
        : await tableColumns(input, delimiterOf(format));
    all.set(input.name, columns);
    const missing = [...needed, ...(keep === 'all' ? [] : keep)].find(
      (name) => !columns.includes(name),
    );
    if (missing === undefined) continue;
    throw new UsageError(
      `${input.name}: has no column “${missing}”: its columns are ${columns.join(', ')}`,
    );
  }
  return all;
}

/** Of a model of signals a table is a recording, as on the page: a row of it is a sample. */
function formatOf({ name }: Input, { inputFormat, cutting }: Reading): InputFormat {
  const format = inputFormat ?? readName(name).format;
  if (format === null) {
    throw new UsageError(
      `${name}: its name does not say its format: use --input-format jsonl, csv, tsv, parquet or recording`,
    );
  }
  return cutting && (format === 'csv' || format === 'tsv') ? 'recording' : format;
}

function delimiterOf(format: 'csv' | 'tsv'): ',' | '\t' {
  return format === 'csv' ? ',' : '\t';
}

function neededOf(columns: readonly string[], { keep, needed }: Reading): readonly string[] {
  if (keep === 'all') return columns;
  return columns.filter((name) => needed.includes(name) || keep.includes(name));
}

/** Of files in which rows can only be found one after the other. */
async function* behind(done: number, batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
  let left = done;
  for await (const { rows, fraction } of batches) {
    if (left < rows.length) yield { rows: left > 0 ? rows.slice(left) : rows, fraction };
    left = Math.max(0, left - rows.length);
  }
}
