import type { Row } from '../rows';

/** Row with its prediction, reduced to the columns of the output. */
export interface PredictedRow {
  readonly row: Row;
  readonly prediction: unknown;
}

export interface EncodedPart {
  readonly bytes: Buffer;
  /** State to resume after this part; null if the encoder has none. */
  readonly state: string | null;
}

/** Encodes predictions in parts. The file is the concatenation of start, parts and finish. */
export interface OutputEncoder {
  /** Rows per part; the last part may have fewer. */
  readonly rowsPerPart: number;
  /** Returns the bytes before the first row. */
  start(): Promise<Buffer>;
  part(rows: readonly PredictedRow[]): Promise<EncodedPart>;
  /** Returns the bytes after the last row. */
  finish(): Promise<Buffer>;
  /** Returns the final header, which overwrites the first bytes; undefined if the header does not change. */
  header?(rows: number): Buffer;
  /** Resumes after the parts of an earlier process. */
  restore(states: readonly string[], bytes: number): Promise<void>;
}
