/** Row of an input file, or window of a recording. */
export interface Row {
  /** First line, row or window number, from 1; null for errors of the whole file. */
  readonly line: number | null;
  /** Values by column name, as input of the model. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Lossless cells of columns whose numbers may have lost digits in `fields`; undefined if no such column. */
  readonly exact?: ReadonlyMap<string, unknown> | undefined;
  /** Source line of a JSONL file if the output copies it; otherwise null. */
  readonly json: string | null;
  /** Samples of a window; null for other rows. */
  readonly signal: Float64Array | null;
  /** Window of a recording: the label that its event names, or null; undefined: another row. */
  readonly window?: { readonly expected: string | null } | undefined;
  /** Approximate memory in characters. */
  readonly size: number;
}

/** Row that cannot be parsed. The message does not quote its content. */
export interface RejectedRow {
  readonly line: number | null;
  readonly problem: string;
}

export type ReadRow = Row | RejectedRow;

export function isRejected(row: ReadRow): row is RejectedRow {
  return 'problem' in row;
}

/** Rows that were read together. Readers are deterministic: the same rows in the same order on each run. */
export interface RowBatch {
  readonly rows: readonly ReadRow[];
  /** Fraction of the input that has been read, 0 to 1; null for standard input. */
  readonly fraction: number | null;
}

/** Value of a column as model input; undefined if the row lacks the column. */
export function fieldOf({ fields }: Pick<Row, 'fields'>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Lossless value of a column for the output; undefined if the row lacks the column. */
export function cellOf(row: Pick<Row, 'fields' | 'exact'>, name: string): unknown {
  return row.exact?.get(name) ?? fieldOf(row, name);
}

/** Row with its prediction or its error. */
export interface RowResult {
  /** Index of the input file. */
  readonly file: number;
  readonly line: number | null;
  /** Null if the row cannot be parsed. */
  row: Row | null;
  /** Null until the model responds, and for rejected rows. */
  prediction: unknown;
  /** Reason of the rejection; null if not rejected. */
  problem: string | null;
}

/** Position in the inputs. */
export interface Position {
  /** Index of the input file. */
  readonly input: number;
  /** Number of rows read from this file, including rejected rows. */
  readonly rows: number;
}
