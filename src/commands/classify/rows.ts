/** One row of an input, or one window of a recording. */
export interface Row {
  /** From 1: of the line in which it begins, of the row, or of the window; null: it is about the whole file. */
  readonly line: number | null;
  /** Columns by name. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The line as it was, a JSON object; null: it was none, or the output needs another one. */
  readonly json: string | null;
  /** Of a window that was cut from a recording. */
  readonly signal: Float64Array | null;
  /** About how much of memory it takes, in characters. */
  readonly size: number;
}

/** What cannot be read as a row. The reason quotes nothing of it. */
export interface BadRow {
  readonly line: number | null;
  readonly problem: string;
}

export type ReadRow = Row | BadRow;

export function isBad(row: ReadRow): row is BadRow {
  return 'problem' in row;
}

/** Reads one input, always the same rows in the same order. */
export interface RowReader {
  /** Names of all columns where the file says them before its rows; null: each row has its own. */
  readonly columns: readonly string[] | null;
  /**
   * Some rows at a time, as many as are at hand. May be called once.
   *
   * @param done so many of its first rows are left out
   */
  rows(done: number): AsyncIterable<readonly ReadRow[]>;
  /** How much of it has been read, from 0 to 1; null: nobody knows how much there is. */
  fractionRead(): number | null;
  /** Lets go of the file, whatever has been read. */
  close(): Promise<void>;
}

/** Of files in which rows can only be found one after the other. */
export async function* behind(
  done: number,
  batches: AsyncIterable<readonly ReadRow[]>,
): AsyncGenerator<readonly ReadRow[]> {
  let left = done;
  for await (const batch of batches) {
    if (left < batch.length) yield left > 0 ? batch.slice(left) : batch;
    left = Math.max(0, left - batch.length);
  }
}

/** A column of a row; undefined: it has none of that name. */
export function fieldOf({ fields }: Row, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
