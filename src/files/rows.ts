/** One row of an input, or one window of a recording. */
export interface Row {
  /** From 1: of the line in which it begins, of the row, or of the window; null: it is about the whole file. */
  readonly line: number | null;
  /** Columns by name, as a model takes them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Of columns whose `fields` may have lost digits, the cells that are kept; absent: no column is such. */
  readonly exact?: ReadonlyMap<string, unknown> | undefined;
  /** The line as it was, a JSON object; null: it was none, or the output needs another one. */
  readonly json: string | null;
  /** Of a window that was cut from a recording. */
  readonly signal: Float64Array | null;
  /** About how much of memory it takes, in characters. */
  readonly size: number;
}

/** What cannot be read as a row. The reason quotes nothing of it. */
export interface RejectedRow {
  readonly line: number | null;
  readonly problem: string;
}

export type ReadRow = Row | RejectedRow;

export function isRejected(row: ReadRow): row is RejectedRow {
  return 'problem' in row;
}

/** Rows that are at hand together. Readers give the same rows in the same order each time. */
export interface RowBatch {
  readonly rows: readonly ReadRow[];
  /** How much of the input has been read, from 0 to 1; null: nobody knows how much there is. */
  readonly fraction: number | null;
}

/** A column of a row; undefined: it has none of that name. */
export function fieldOf({ fields }: Pick<Row, 'fields'>, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** What is kept of a column of a row; undefined: it has none of that name. */
export function cellOf(row: Pick<Row, 'fields' | 'exact'>, name: string): unknown {
  return row.exact?.get(name) ?? fieldOf(row, name);
}

/** A row on its way through a run. */
export interface RowResult {
  /** Index of the input. */
  readonly file: number;
  readonly line: number | null;
  /** null: it cannot be read as a row. */
  row: Row | null;
  /** null: there is none, or none yet. */
  prediction: unknown;
  /** Why there is no answer; null: there is no reason yet. */
  problem: string | null;
}

/** How far the inputs have been read. */
export interface Position {
  /** Index of the input. */
  readonly input: number;
  /** Rows of it, bad ones included. */
  readonly rows: number;
}
