import path from 'node:path';

export const INPUT_FORMATS = ['jsonl', 'csv', 'tsv', 'parquet', 'recording'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

export const OUTPUT_FORMATS = ['jsonl', 'csv', 'parquet', 'npy'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Those that every task writes. */
export const TABLE_FORMATS = ['jsonl', 'csv', 'parquet'] as const satisfies readonly OutputFormat[];

/** `snappy` is there for Parquet alone, which compresses inside. */
export const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Columns of the input that go into the output. */
export type KeptColumns = 'all' | readonly string[];

/** How a pipe is named. */
export const STANDARD_STREAM = '-';

/** The options that all commands over files have. */
export interface FileOptions {
  /** As they were written: paths, patterns, `-`. */
  readonly inputs: readonly string[];
  /** null: names say it. */
  readonly inputFormat: InputFormat | null;
  readonly output: string;
  readonly outputFormat: OutputFormat;
  readonly compression: Compression;
  readonly keep: KeptColumns;
  readonly prefix: string;
  /** null: standard error. */
  readonly rejects: string | null;
  readonly summary: string | null;
  readonly resume: boolean;
  readonly overwrite: boolean;
}

const BY_EXTENSION: Readonly<Record<string, InputFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.parquet': 'parquet',
  '.edf': 'recording',
};
const COMPRESSED: Readonly<Record<string, Compression>> = {
  '.gz': 'gzip',
  '.zst': 'zstd',
  '.zstd': 'zstd',
};

/** What a file's name says of it; null: nothing. */
export function inferFromName(file: string): {
  readonly format: InputFormat | null;
  readonly compression: Compression;
} {
  const last = path.extname(file).toLowerCase();
  const compression = COMPRESSED[last] ?? 'none';
  const inner = compression === 'none' ? last : path.extname(file.slice(0, -last.length));
  return { format: BY_EXTENSION[inner.toLowerCase()] ?? null, compression };
}
