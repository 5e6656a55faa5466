import { open } from 'node:fs/promises';
import { RunError, UsageError } from '../file-errors';
import { ignoreNotFound } from './output-paths';

/** Append-only file that is synchronized to disk after each write. */
export interface DurableFile {
  /** Size in bytes. */
  readonly bytes: number;
  /** Appends bytes, in call order. After a failure, all further writes fail. @throws RunError */
  append(data: Buffer): Promise<void>;
  /** Overwrites the first bytes. @throws RunError */
  replaceHead(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens or creates a durable file.
 *
 * @param kept number of bytes to keep of an existing file; null creates an empty file
 * @param mode permissions of a created file
 * @throws UsageError if the existing file is shorter
 */
export async function openDurable(
  path: string,
  kept: number | null,
  mode = 0o666,
): Promise<DurableFile> {
  const handle = kept === null ? await open(path, 'w', mode) : await reopen(path, kept);
  let bytes = kept ?? 0;
  let last = Promise.resolve();
  /** Loops, because a full disk first accepts a part of the bytes and fails on the next write. */
  const write = async (data: Buffer, at: number): Promise<void> => {
    if (data.length === 0) return;
    const { size } = await handle.stat();
    if (size !== bytes) {
      throw new RunError(`${path}: another process writes this file. Stop one of the processes`);
    }
    try {
      for (let done = 0; done < data.length; ) {
        const rest = data.subarray(done);
        done += (await handle.write(rest, 0, rest.length, at + done)).bytesWritten;
      }
      await handle.datasync();
    } catch (error) {
      throw new RunError(
        `${path}: write failed: ${(error as Error).message}. Fix the cause and continue with --resume`,
      );
    }
    bytes = Math.max(bytes, at + data.length);
  };
  return {
    get bytes() {
      return bytes;
    },
    append: (data) => {
      last = last.then(() => write(data, bytes));
      return last;
    },
    replaceHead: (data) => {
      last = last.then(() => write(data, 0));
      return last;
    },
    close: () => handle.close(),
  };
}

async function reopen(path: string, kept: number) {
  const handle = await open(path, 'r+').catch(ignoreNotFound);
  const size = (await handle?.stat())?.size ?? -1;
  if (!handle || size < kept) {
    throw new UsageError(`${path}: shorter than the journal records. Start again with --overwrite`);
  }
  await handle.truncate(kept);
  return handle;
}
