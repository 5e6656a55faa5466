import { UsageError } from '../errors';
import { type InputFormat, readName } from '../formats';
import { keepsLines, type Options } from '../options';
import type { RowReader } from '../rows';
import type { Input } from './expand';
import { JsonLinesReader } from './jsonl';
import { ParquetReader } from './parquet';
import { type Cutting, RecordingReader } from './recordings';
import { TableReader } from './tables';

/** What decides how an input is read. */
export interface Reading {
  readonly options: Options;
  /** null: there are no recordings for this service. */
  readonly cutting: Cutting | null;
  /** Columns that each row must have. */
  readonly needed: readonly string[];
}

/** @throws UsageError, RunError */
export async function openInput(input: Input, reading: Reading): Promise<RowReader> {
  const { options, cutting } = reading;
  const format = formatOf(input, options);
  switch (format) {
    case 'jsonl':
      return new JsonLinesReader(input, keepsLines(options));
    case 'csv':
    case 'tsv':
      return TableReader.open(input, format === 'csv' ? ',' : '\t');
    case 'parquet':
      return ParquetReader.open(input, (columns) => neededOf(columns, reading));
    case 'recording':
      if (!cutting) throw new UsageError(`${input.name}: recordings are for eeg`);
      return new RecordingReader(input, cutting);
  }
}

/** For eeg a table is a recording, as on the page: a row of it is a sample. */
export function formatOf({ name }: Input, { inputFormat, service }: Options): InputFormat {
  const format = inputFormat ?? readName(name).format;
  if (format === null) {
    throw new UsageError(
      `${name}: its name does not say its format: use --input-format jsonl, csv, tsv, parquet or recording`,
    );
  }
  return service === 'eeg' && (format === 'csv' || format === 'tsv') ? 'recording' : format;
}

/**
 * Looks at every file before hours are spent on the first ones.
 *
 * @returns columns of the files that say them, by name
 * @throws UsageError that names the file
 */
export async function lookAtInputs(
  inputs: readonly Input[],
  reading: Reading,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const columns = new Map<string, readonly string[]>();
  for (const input of inputs) {
    const format = formatOf(input, reading.options);
    if (input.path === null || format === 'jsonl' || format === 'recording') continue;
    const reader = await openInput(input, reading);
    await reader.close();
    if (!reader.columns) continue;
    columns.set(input.name, reader.columns);
    const { keep } = reading.options;
    for (const name of [...reading.needed, ...(keep === 'all' ? [] : keep)]) {
      if (reader.columns.includes(name)) continue;
      throw new UsageError(
        `${input.name}: has no column “${name}”: its columns are ${reader.columns.join(', ')}`,
      );
    }
  }
  return columns;
}

function neededOf(columns: readonly string[], { options, needed }: Reading): readonly string[] {
  if (options.keep === 'all') return columns;
  const wanted = new Set([...needed, ...options.keep]);
  return columns.filter((name) => wanted.has(name));
}
