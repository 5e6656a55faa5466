import { type FileHandle, open } from 'node:fs/promises';
import { RunError, UsageError } from '../errors';
import { ignoreMissing } from './names';

/** A file that grows at its end; what has been appended is on the disk. */
export class DurableFile {
  readonly #handle: FileHandle;
  readonly #path: string;
  #bytes: number;
  /** The last append; once one has failed, no other one is tried. */
  #last: Promise<void> = Promise.resolve();

  private constructor(handle: FileHandle, path: string, bytes: number) {
    this.#handle = handle;
    this.#path = path;
    this.#bytes = bytes;
  }

  static async create(path: string): Promise<DurableFile> {
    return new DurableFile(await open(path, 'w'), path, 0);
  }

  /**
   * @param bytes what is kept of it
   * @throws UsageError where so much is not there
   */
  static async reopen(path: string, bytes: number): Promise<DurableFile> {
    const handle = await open(path, 'r+').catch(ignoreMissing);
    const size = (await handle?.stat())?.size ?? -1;
    if (!handle || size < bytes) {
      throw new UsageError(`${path}: is not what the run left: --overwrite begins anew`);
    }
    await handle.truncate(bytes);
    return new DurableFile(handle, path, bytes);
  }

  /** That have been appended. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws RunError that names the file */
  append(some: Buffer): Promise<void> {
    this.#last = this.#last.then(() => this.#append(some));
    return this.#last;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** A disk that becomes full takes a part first, and says so only when it is given the rest. */
  async #append(some: Buffer): Promise<void> {
    if (some.length === 0) return;
    const { size } = await this.#handle.stat();
    if (size !== this.#bytes) {
      throw new RunError(`${this.#path}: another process writes it, too: let one of them run`);
    }
    try {
      for (let done = 0; done < some.length; ) {
        const rest = some.subarray(done);
        done += (await this.#handle.write(rest, 0, rest.length, size + done)).bytesWritten;
      }
      await this.#handle.datasync();
    } catch (error) {
      throw new RunError(
        `${this.#path}: cannot be written: ${(error as Error).message}: once the cause is gone, --resume goes on`,
      );
    }
    this.#bytes += some.length;
  }
}
