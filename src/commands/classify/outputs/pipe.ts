import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { RunError } from '../errors';
import { BEGINNING, type Destination } from './destination';

/** Standard output: what has gone is gone, so nothing can be resumed. */
export class PipeDestination implements Destination {
  readonly start = BEGINNING;
  readonly #rejects: FileHandle | null;
  #problem: Error | null = null;

  private constructor(rejects: FileHandle | null) {
    this.#rejects = rejects;
    process.stdout.on('error', (error) => {
      this.#problem = error;
    });
  }

  /** @param rejects null: standard error */
  static async open(rejects: string | null): Promise<PipeDestination> {
    return new PipeDestination(rejects === null ? null : await open(rejects, 'w'));
  }

  async append(output: Buffer, rejects: Buffer): Promise<void> {
    if (rejects.length > 0) {
      if (this.#rejects) await this.#rejects.appendFile(rejects);
      else process.stderr.write(rejects);
    }
    if (output.length === 0) return;
    // Whoever reads is slower: then this waits, and with it all that is read.
    if (!process.stdout.write(output) && !this.#problem) {
      await once(process.stdout, 'drain').catch(() => {});
    }
    if (this.#problem) {
      throw new RunError(`standard output cannot be written: ${this.#problem.message}`);
    }
  }

  async note(): Promise<void> {}

  async publish(): Promise<void> {}

  async close(): Promise<void> {
    await this.#rejects?.close();
  }
}
