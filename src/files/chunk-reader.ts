import { type InputFile, requireUnmodified } from './input-files';
import type { JobSpec } from './job-spec';
import { readRows } from './readers/row-reader';
import { isRejected, type Position, type ReadRow } from './rows';

/**
 * A chunk's boundaries depend on the rows alone: a run that goes on makes the same ones. A process that is
 * ended loses a few chunks of work, which with a slow model are minutes.
 */
const ROWS_OF_CHUNK = 1024;
const SIZE_OF_CHUNK = 4 * 1024 ** 2;

/** Rows that run together, in the order of their lengths, and are written together, in their own. */
export interface Chunk<Item> {
  readonly items: readonly Item[];
  /** Behind its last row. */
  readonly end: Position;
  /** Of all inputs, what has been read, from 0 to 1; null: nobody knows. */
  readonly fraction: number | null;
}

/**
 * @param toItem what becomes of a row of an input, by the input's index
 * @throws RunError: an input cannot be read, or has changed
 */
export async function* readChunks<Item>(
  inputs: readonly InputFile[],
  plan: JobSpec,
  from: Position,
  toItem: (file: number, read: ReadRow) => Item,
): AsyncGenerator<Chunk<Item>, undefined> {
  const bytes = inputs.reduce((sum, { size }) => sum + size, 0);
  let bytesBefore = 0;
  let items: Item[] = [];
  let size = 0;
  for (const [file, input] of inputs.entries()) {
    if (file >= from.input) {
      let done = file === from.input ? from.rows : 0;
      for await (const { rows, fraction } of readRows(input, plan, done)) {
        for (const read of rows) {
          done++;
          items.push(toItem(file, read));
          size += isRejected(read) ? 0 : read.size;
          if (items.length < ROWS_OF_CHUNK && size < SIZE_OF_CHUNK) continue;
          const all =
            fraction === null ? null : (bytesBefore + fraction * input.size) / Math.max(1, bytes);
          yield { items, end: { input: file, rows: done }, fraction: all };
          items = [];
          size = 0;
        }
      }
      requireUnmodified(input);
    }
    bytesBefore += input.size;
  }
  if (items.length > 0) yield { items, end: { input: inputs.length, rows: 0 }, fraction: 1 };
}
