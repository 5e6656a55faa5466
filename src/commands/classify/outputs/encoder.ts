import type { Compression, OutputFormat } from '../formats';
import type { Answered, Layout } from '../layout';
import { compressWhole } from './compress';
import { CsvEncoder } from './csv';
import { JsonLinesEncoder } from './jsonl';
import { ParquetEncoder } from './parquet';

/** Writes answers as bytes, a part at a time, so that the bytes of the parts, one after the other, are the file. */
export interface Encoder {
  /** Rows that a part is to have; fewer at the end. */
  readonly rowsOfPart: number;
  /** What is before the first row. */
  start(): Promise<Buffer>;
  part(rows: readonly Answered[]): Promise<Part>;
  /** What is behind the last row. */
  finish(): Promise<Buffer>;
  /** Goes on behind parts that another process has written. */
  restore(states: readonly string[], bytes: number): Promise<void>;
}

export interface Part {
  readonly bytes: Buffer;
  /** What is needed to go on behind it; null: nothing. */
  readonly state: string | null;
}

export function makeEncoder(
  format: OutputFormat,
  compression: Compression,
  layout: Layout,
): Encoder {
  if (format === 'parquet') return new ParquetEncoder(layout, compression);
  const text = format === 'csv' ? new CsvEncoder(layout) : new JsonLinesEncoder(layout);
  return new TextEncoder(text, compression);
}

/** A format of lines. */
export interface Lines {
  header(): string;
  lines(rows: readonly Answered[]): string;
}

/** Each part is a gzip member or a zstd frame of its own; readers take several for one file. */
class TextEncoder implements Encoder {
  readonly rowsOfPart = 1;
  readonly #lines: Lines;
  readonly #compression: Compression;

  constructor(lines: Lines, compression: Compression) {
    this.#lines = lines;
    this.#compression = compression;
  }

  /** A compressed file without rows is one that can be read, too. */
  start(): Promise<Buffer> {
    return compressWhole(Buffer.from(this.#lines.header()), this.#compression);
  }

  async part(rows: readonly Answered[]): Promise<Part> {
    const text = Buffer.from(this.#lines.lines(rows));
    return { bytes: await compressWhole(text, this.#compression), state: null };
  }

  async finish(): Promise<Buffer> {
    return Buffer.alloc(0);
  }

  async restore(): Promise<void> {}
}
