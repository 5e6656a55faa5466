import type { Row } from '../rows';

/** A row with its answer, and nothing that the output does not need. */
export interface Answered {
  readonly row: Row;
  readonly answer: unknown;
}

export interface Part {
  readonly bytes: Buffer;
  /** What is needed to go on behind it; null: nothing. */
  readonly state: string | null;
}

/** Writes answers as bytes, a part at a time, so that the bytes of the parts, one after the other, are the file. */
export interface Encoder {
  /** Rows that a part is to have; fewer at the end. */
  readonly rowsOfPart: number;
  /** What is before the first row. */
  start(): Promise<Buffer>;
  part(rows: readonly Answered[]): Promise<Part>;
  /** What is behind the last row. */
  finish(): Promise<Buffer>;
  /** What is in the place of the first bytes once all rows are written, by their number; absent: those stay. */
  head?(rows: number): Buffer;
  /** Goes on behind parts that another process has written. */
  restore(states: readonly string[], bytes: number): Promise<void>;
}
