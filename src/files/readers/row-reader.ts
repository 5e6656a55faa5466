import { UsageError } from '../file-errors';
import { type InputFormat, inferFromName } from '../formats';
import type { InputFile } from '../input-files';
import type { JobSpec, SourceColumn } from '../job-spec';
import type { RowBatch } from '../rows';
import { readTable, tableColumns } from './csv-reader';
import { readJsonLines } from './jsonl-reader';
import { parquetColumns, readParquet } from './parquet-reader';
import { readWindows } from './recording-reader';

const DELIMITERS = { csv: ',', tsv: '\t' } as const;

/**
 * The rows of an input.
 *
 * @param done so many of its first rows are left out
 * @throws UsageError, RunError
 */
export function readRows(input: InputFile, plan: JobSpec, done: number): AsyncIterable<RowBatch> {
  const { windowing, omittedColumns } = plan.format;
  const { outputFormat, keep } = plan.options;
  const format = formatOf(input, plan);
  switch (format) {
    case 'jsonl': {
      const keepsLines = outputFormat === 'jsonl' && keep === 'all' && omittedColumns.length === 0;
      return behind(done, readJsonLines(input, keepsLines));
    }
    case 'csv':
    case 'tsv':
      return behind(done, readTable(input, DELIMITERS[format]));
    case 'parquet':
      return readParquet(input, (columns) => wantedOf(columns, plan), done);
    case 'recording':
      if (!windowing) throw new UsageError(`${input.name}: recordings are for eeg`);
      return behind(done, readWindows(input, windowing));
  }
}

/**
 * Reads the columns of every file before hours are spent on the first ones.
 *
 * @returns columns of the files that say them and their types, by name
 * @throws UsageError that names the file
 */
export async function readColumns(
  inputs: readonly InputFile[],
  plan: JobSpec,
): Promise<ReadonlyMap<string, readonly SourceColumn[]>> {
  const all = new Map<string, readonly SourceColumn[]>();
  const { keep } = plan.options;
  const wanted = [...plan.format.requiredColumns, ...(keep === 'all' ? [] : keep)];
  for (const input of inputs) {
    const format = formatOf(input, plan);
    if (input.path === null || format === 'jsonl' || format === 'recording') continue;
    const columns: readonly SourceColumn[] =
      format === 'parquet'
        ? (await parquetColumns(input)).map(({ name, type }) => ({ name, type }))
        : (await tableColumns(input, DELIMITERS[format])).map((name) => ({ name, type: 'string' }));
    all.set(input.name, columns);
    const names = columns.map(({ name }) => name);
    const missing = wanted.find((name) => !names.includes(name));
    if (missing === undefined) continue;
    throw new UsageError(
      `${input.name}: has no column “${missing}”: its columns are ${names.join(', ')}`,
    );
  }
  return all;
}

/** Of a model of signals a table is a recording, as on the page: a row of it is a sample. */
function formatOf({ name }: InputFile, { options, format: { windowing } }: JobSpec): InputFormat {
  const format = options.inputFormat ?? inferFromName(name).format;
  if (format === null) {
    throw new UsageError(
      `${name}: its name does not say its format: use --input-format jsonl, csv, tsv, parquet or recording`,
    );
  }
  return windowing && (format === 'csv' || format === 'tsv') ? 'recording' : format;
}

function wantedOf(columns: readonly string[], { options, format }: JobSpec): readonly string[] {
  if (options.keep === 'all') return columns;
  const wanted = [...format.requiredColumns, ...options.keep];
  return columns.filter((name) => wanted.includes(name));
}

/** Of files in which rows can only be found one after the other. */
async function* behind(done: number, batches: AsyncIterable<RowBatch>): AsyncGenerator<RowBatch> {
  let left = done;
  for await (const { rows, fraction } of batches) {
    if (left < rows.length) yield { rows: left > 0 ? rows.slice(left) : rows, fraction };
    left = Math.max(0, left - rows.length);
  }
}
