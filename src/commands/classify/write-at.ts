import type { FileHandle } from 'node:fs/promises';
import { RunError } from './errors';

/**
 * Writes all of it, onto the disk. A disk that becomes full takes a part first, and says so only when it
 * is given the rest.
 *
 * @param path for the error
 * @throws RunError that names the file
 */
export async function writeAt(
  file: FileHandle,
  path: string,
  bytes: Buffer,
  position: number,
): Promise<void> {
  if (bytes.length === 0) return;
  try {
    for (let done = 0; done < bytes.length; ) {
      done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
    }
    await file.datasync();
  } catch (error) {
    const { message } = error as Error;
    throw new RunError(
      `${path}: cannot be written: ${message}: once the cause is gone, --resume goes on`,
    );
  }
}
