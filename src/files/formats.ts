import path from 'node:path';

export const INPUT_FORMATS = ['jsonl', 'csv', 'tsv', 'parquet', 'recording'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

export const OUTPUT_FORMATS = ['jsonl', 'csv', 'parquet', 'npy'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Output formats of all tasks. */
export const TABLE_FORMATS = ['jsonl', 'csv', 'parquet'] as const satisfies readonly OutputFormat[];

/** `snappy` is only valid for Parquet, which compresses its pages. */
export const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Input columns that are copied to the output. */
export type KeptColumns = 'all' | readonly string[];

/** Name of standard input and output on the command line. */
export const STANDARD_STREAM = '-';

/** Options of all batch commands. */
export interface FileOptions {
  /** Paths, glob patterns or `-`, as on the command line. */
  readonly inputs: readonly string[];
  /** Null: inferred from each file name. */
  readonly inputFormat: InputFormat | null;
  readonly output: string;
  readonly outputFormat: OutputFormat;
  readonly compression: Compression;
  readonly keep: KeptColumns;
  readonly prefix: string;
  /** File for rejected rows; null: standard error. */
  readonly rejects: string | null;
  readonly summary: string | null;
  readonly resume: boolean;
  readonly overwrite: boolean;
}

const FORMAT_BY_EXTENSION: Readonly<Record<string, InputFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.parquet': 'parquet',
  '.edf': 'recording',
  '.bdf': 'recording',
  '.vhdr': 'recording',
  '.ahdr': 'recording',
  '.xdf': 'recording',
  '.xdfz': 'recording',
};
const COMPRESSION_BY_EXTENSION: Readonly<Record<string, Compression>> = {
  '.gz': 'gzip',
  '.zst': 'zstd',
  '.zstd': 'zstd',
};

/** Infers format and compression from the extensions of a file name. Format is null if unknown. */
export function inferFromName(file: string): {
  readonly format: InputFormat | null;
  readonly compression: Compression;
} {
  const last = path.extname(file).toLowerCase();
  const compression = COMPRESSION_BY_EXTENSION[last] ?? 'none';
  const inner = compression === 'none' ? last : path.extname(file.slice(0, -last.length));
  return { format: FORMAT_BY_EXTENSION[inner.toLowerCase()] ?? null, compression };
}
