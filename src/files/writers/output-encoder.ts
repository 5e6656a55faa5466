import type { Row } from '../rows';

/** A row with its answer, and nothing that the output does not need. */
export interface PredictedRow {
  readonly row: Row;
  readonly prediction: unknown;
}

export interface EncodedPart {
  readonly bytes: Buffer;
  /** What is needed to go on behind it; null: nothing. */
  readonly state: string | null;
}

/** Writes answers as bytes, a part at a time, so that the bytes of the parts, one after the other, are the file. */
export interface OutputEncoder {
  /** Rows that a part is to have; fewer at the end. */
  readonly rowsPerPart: number;
  /** What is before the first row. */
  start(): Promise<Buffer>;
  part(rows: readonly PredictedRow[]): Promise<EncodedPart>;
  /** What is behind the last row. */
  finish(): Promise<Buffer>;
  /** What is in the place of the first bytes once all rows are written, by their number; absent: those stay. */
  header?(rows: number): Buffer;
  /** Goes on behind parts that another process has written. */
  restore(states: readonly string[], bytes: number): Promise<void>;
}
