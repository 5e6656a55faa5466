import { open } from 'node:fs/promises';
import { RunError, UsageError } from '../file-errors';
import { ignoreNotFound } from './output-paths';

/** A file that grows at its end; what has been appended is on the disk. */
export interface DurableFile {
  /** That have been appended. */
  readonly bytes: number;
  /** One after the other; once one has failed, no other one is tried. @throws RunError that names the file */
  append(some: Buffer): Promise<void>;
  /** Writes over its first bytes. @throws RunError that names the file */
  replaceHead(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param kept bytes that are kept of what is there; null: it begins anew
 * @throws UsageError where so much is not there
 */
export async function openDurable(path: string, kept: number | null): Promise<DurableFile> {
  const handle = kept === null ? await open(path, 'w') : await reopen(path, kept);
  let bytes = kept ?? 0;
  let last = Promise.resolve();
  /** A disk that becomes full takes a part first, and says so only when it is given the rest. */
  const write = async (some: Buffer, at: number): Promise<void> => {
    if (some.length === 0) return;
    const { size } = await handle.stat();
    if (size !== bytes) {
      throw new RunError(`${path}: another process writes it, too: let one of them run`);
    }
    try {
      for (let done = 0; done < some.length; ) {
        const rest = some.subarray(done);
        done += (await handle.write(rest, 0, rest.length, at + done)).bytesWritten;
      }
      await handle.datasync();
    } catch (error) {
      throw new RunError(
        `${path}: cannot be written: ${(error as Error).message}: once the cause is gone, --resume goes on`,
      );
    }
    bytes = Math.max(bytes, at + some.length);
  };
  return {
    get bytes() {
      return bytes;
    },
    append: (some) => {
      last = last.then(() => write(some, bytes));
      return last;
    },
    replaceHead: (some) => {
      last = last.then(() => write(some, 0));
      return last;
    },
    close: () => handle.close(),
  };
}

async function reopen(path: string, kept: number) {
  const handle = await open(path, 'r+').catch(ignoreNotFound);
  const size = (await handle?.stat())?.size ?? -1;
  if (!handle || size < kept) {
    throw new UsageError(`${path}: is not what the run left: --overwrite begins anew`);
  }
  await handle.truncate(kept);
  return handle;
}
