import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { RunError } from '../../../files/file-errors';

/** How often a file is looked at that has not grown, in ms. */
const LOOK_MS = 50;
const BLOCK_BYTES = 65_536;

/** What becomes of a file that is followed by its name, as `tail -F` does. */
export type FileChange =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** It is shorter than what was read of it: it is read from its beginning. */
  | { readonly type: 'cut' }
  /** Another file has its name: that one is read from its beginning. */
  | { readonly type: 'replaced' }
  /** No file has its name, or none any more: one is waited for. */
  | { readonly type: 'missing' };

/**
 * The bytes of a file, from its beginning on, and those that are written behind them, until it is stopped.
 *
 * @throws RunError: it cannot be read
 */
export async function* tailFile(
  name: string,
  place: string,
  stop: AbortSignal,
): AsyncGenerator<FileChange> {
  try {
    for (let files = 0; !stop.aborted; files++) {
      const file = yield* openWhenThere(place, stop);
      if (file === null) return;
      try {
        if (files > 0) yield { type: 'replaced' };
        yield* read(file, place, stop);
      } finally {
        await file.close();
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new RunError(`${name}: cannot be read: ${(error as Error).message}`);
  }
}

/** Null: it was stopped before. */
async function* openWhenThere(
  place: string,
  stop: AbortSignal,
): AsyncGenerator<FileChange, FileHandle | null> {
  let isSaid = false;
  while (!stop.aborted) {
    const file = await open(place).catch(nullWhereMissing);
    if (file !== null) return file;
    if (!isSaid) yield { type: 'missing' };
    isSaid = true;
    await pause(stop);
  }
  return null;
}

/** Returns when another file has its name, and this one has been read to its end. */
async function* read(
  file: FileHandle,
  place: string,
  stop: AbortSignal,
): AsyncGenerator<FileChange> {
  const own = await file.stat();
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let position = 0;
  let isReplaced = false;
  let isMissing = false;
  while (!stop.aborted) {
    const { bytesRead } = await file.read(block, 0, block.length, position);
    if (bytesRead > 0) {
      position += bytesRead;
      yield { type: 'bytes', bytes: Buffer.from(block.subarray(0, bytesRead)) };
      continue;
    }
    if (isReplaced) return;
    if ((await file.stat()).size < position) {
      position = 0;
      yield { type: 'cut' };
      continue;
    }
    const now = await stat(place).catch(nullWhereMissing);
    // What was written since the read above is read first.
    isReplaced = now !== null && !isSame(now, own);
    if (isReplaced) continue;
    if (now === null && !isMissing) yield { type: 'missing' };
    isMissing = now === null;
    await pause(stop);
  }
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function nullWhereMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(LOOK_MS, undefined, { signal }).catch(() => {});
}
