import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { RunError } from '../../../files/file-errors';

/** Interval of checks of a file that does not grow, in ms. */
const POLL_MS = 50;
const BLOCK_BYTES = 65_536;

/** Change of a file that is followed by its name, as by `tail -F`. */
export type FileChange =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  /** The file was truncated and is read from its start. */
  | { readonly type: 'truncated' }
  /** Another file has the name and is read from its start. */
  | { readonly type: 'replaced' }
  /** No file has the name. */
  | { readonly type: 'missing' };

/**
 * Yields the bytes of a file and appended bytes, until `stop` is aborted.
 *
 * @param name file name for errors
 * @throws RunError: the file cannot be read
 */
export async function* tailFile(
  name: string,
  path: string,
  stop: AbortSignal,
): AsyncGenerator<FileChange> {
  try {
    for (let files = 0; !stop.aborted; files++) {
      const file = yield* openWhenPresent(path, stop);
      if (file === null) return;
      try {
        if (files > 0) yield { type: 'replaced' };
        yield* readUntilReplaced(file, path, stop);
      } finally {
        await file.close();
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new RunError(`${name}: cannot be read: ${(error as Error).message}`);
  }
}

/** Yields the bytes of a pipe until its end, or until `stop` is aborted. @throws RunError */
export async function* readPipe(pipe: Readable, stop: AbortSignal): AsyncGenerator<FileChange> {
  try {
    for await (const bytes of addAbortSignal(stop, pipe)) yield { type: 'bytes', bytes };
  } catch (error) {
    if (stop.aborted) return;
    throw new RunError(`standard input: cannot be read: ${(error as Error).message}`);
  }
}

/** Waits for a file. Returns null if `stop` is aborted before. */
async function* openWhenPresent(
  path: string,
  stop: AbortSignal,
): AsyncGenerator<FileChange, FileHandle | null> {
  let isReported = false;
  while (!stop.aborted) {
    const file = await open(path).catch(nullIfMissing);
    if (file !== null) return file;
    if (!isReported) yield { type: 'missing' };
    isReported = true;
    await pause(stop);
  }
  return null;
}

/** Returns when another file has the name and this file is read to its end. */
async function* readUntilReplaced(
  file: FileHandle,
  path: string,
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
      yield { type: 'truncated' };
      continue;
    }
    const current = await stat(path).catch(nullIfMissing);
    // The file can have grown since the last read: read it once more before the next file.
    isReplaced = current !== null && !isSameFile(current, own);
    if (isReplaced) continue;
    if (current === null && !isMissing) yield { type: 'missing' };
    isMissing = current === null;
    await pause(stop);
  }
}

function isSameFile(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(POLL_MS, undefined, { signal }).catch(() => {});
}
