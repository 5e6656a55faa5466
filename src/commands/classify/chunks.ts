import { statSync } from 'node:fs';
import { RunError } from './errors';
import type { Input } from './inputs/expand';
import { openInput, type Reading } from './inputs/open';
import type { Overrun } from './journal';
import { isBad, type Row } from './rows';
import type { Answer, Task } from './task';

/** How far the inputs have been read. */
export interface Position {
  /** Index of the input. */
  readonly input: number;
  /** Rows of it, bad ones included. */
  readonly rows: number;
}

/** A row on its way. */
export interface Item {
  /** Index of the input. */
  readonly file: number;
  readonly line: number | null;
  /** null: it cannot be read as a row. */
  row: Row | null;
  /** What the model takes; null: nothing, or nothing any more. */
  input: unknown;
  answer: Answer | null;
  /** Why there is no answer; null: there is no reason yet. */
  problem: string | null;
  /** The model ran for too long on a batch that it was in, in a process that was ended. */
  readonly hasOverrun: boolean;
}

/** Rows that run together, in the order of their lengths, and are written together, in their own. */
export interface Chunk {
  readonly items: readonly Item[];
  /** Behind its last row. */
  readonly end: Position;
  /** Of all inputs, what has been read, from 0 to 1; null: nobody knows. */
  readonly fraction: number | null;
}

/**
 * A chunk's boundaries depend on the rows alone: a run that goes on makes the same ones. A process that is
 * ended loses a few chunks of work, which with a slow model are minutes.
 */
const ROWS_OF_CHUNK = 1024;
const SIZE_OF_CHUNK = 4 * 1024 ** 2;

export interface Source {
  readonly inputs: readonly Input[];
  readonly reading: Reading;
  readonly task: Task;
  /** Of processes that were ended. */
  readonly overruns: readonly Overrun[];
}

/** @throws RunError: an input cannot be read, or has changed */
export async function* readChunks(source: Source, from: Position): AsyncGenerator<Chunk> {
  let items: Item[] = [];
  let size = 0;
  for await (const { item, rowSize, position, fraction } of readItems(source, from)) {
    items.push(item);
    size += rowSize;
    if (items.length < ROWS_OF_CHUNK && size < SIZE_OF_CHUNK) continue;
    yield { items, end: position, fraction: fraction() };
    items = [];
    size = 0;
  }
  if (items.length === 0) return;
  yield { items, end: { input: source.inputs.length, rows: 0 }, fraction: 1 };
}

interface ReadItem {
  readonly item: Item;
  readonly rowSize: number;
  readonly position: Position;
  readonly fraction: () => number | null;
}

async function* readItems(source: Source, from: Position): AsyncGenerator<ReadItem> {
  const { inputs, reading, task } = source;
  const overruns = byRow(source.overruns);
  const bytes = inputs.reduce((sum, { size }) => sum + size, 0);
  let bytesBefore = 0;
  for (const [file, input] of inputs.entries()) {
    const skipped = file === from.input ? from.rows : 0;
    if (file >= from.input) {
      const reader = await openInput(input, reading);
      const fraction = (): number | null => {
        const read = reader.fractionRead();
        return read === null ? null : (bytesBefore + read * input.size) / Math.max(1, bytes);
      };
      let rows = skipped;
      try {
        for await (const batch of reader.rows(skipped)) {
          for (const read of batch) {
            rows++;
            const item = isBad(read)
              ? { ...empty(file, read.line), problem: read.problem }
              : withOverruns(toItem(read, file, task), overruns);
            const rowSize = isBad(read) ? 0 : read.size;
            yield { item, rowSize, position: { input: file, rows }, fraction };
          }
        }
      } finally {
        await reader.close();
      }
      requireSame(input);
    }
    bytesBefore += input.size;
  }
}

function empty(file: number, line: number | null): Item {
  return { file, line, row: null, input: null, answer: null, problem: null, hasOverrun: false };
}

function toItem(row: Row, file: number, task: Task): Item {
  const taken = task.take(row);
  const item = { ...empty(file, row.line), row };
  return 'problem' in taken ? { ...item, problem: taken.problem } : { ...item, input: taken.input };
}

type Place = Pick<Overrun, 'file' | 'line'>;

const keyOf = ({ file, line }: Place): string => `${file}:${line}`;

function byRow(overruns: readonly Overrun[]): ReadonlyMap<string, readonly Overrun[]> {
  const rows = new Map<string, Overrun[]>();
  for (const one of overruns) rows.set(keyOf(one), [...(rows.get(keyOf(one)) ?? []), one]);
  return rows;
}

/** The second time it was alone, so it has its reason. */
function withOverruns(item: Item, overruns: ReadonlyMap<string, readonly Overrun[]>): Item {
  const [first, second] = overruns.get(keyOf(item)) ?? [];
  if (!first) return item;
  return { ...item, hasOverrun: true, problem: second?.reason ?? item.problem };
}

function requireSame({ path, name, size, modified }: Input): void {
  if (path === null) return;
  const now = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (now && Number(now.size) === size && String(now.mtimeNs) === modified) return;
  throw new RunError(`${name}: has changed while it was read`);
}
