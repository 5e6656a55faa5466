import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { RunError, UsageError } from '../../../files/file-errors';
import { STANDARD_STREAM } from '../../../files/formats';
import { Outflow } from '../../../serving/outflow';

export const outputExists = (file: string) =>
  `${file}: is there already: name another file, or use --overwrite`;

/** Lines of JSON, to a file or standard output, as soon as there is one. */
export class FollowOutput {
  readonly #name: string;
  readonly #stream: NodeJS.WritableStream & { readonly writableLength: number };
  readonly #outflow: Outflow;
  /** Rejects when nothing can be written any more. */
  readonly failed: Promise<never>;

  /** @param onRoom most of what was written has gone out, see `Outflow` */
  constructor(output: string, overwrites: boolean, onRoom: () => void) {
    const isPipe = output === STANDARD_STREAM;
    this.#name = isPipe ? 'standard output' : output;
    this.#stream = isPipe
      ? process.stdout
      : createWriteStream(output, { flags: overwrites ? 'w' : 'wx' });
    this.#outflow = new Outflow(this.#stream);
    this.#outflow.onRoom = onRoom;
    this.failed = new Promise((_, reject) => {
      this.#stream.on('error', (error: NodeJS.ErrnoException) => reject(this.#problemOf(error)));
    });
    this.failed.catch(() => {}); // whoever waits for it is told
  }

  /** Bytes that have not gone out yet. */
  get unsent(): number {
    return this.#outflow.bytes;
  }

  write(json: string): void {
    this.#stream.write(`${json}\n`, this.#outflow.add(json.length + 1));
  }

  /** Resolves when all has gone out. */
  async end(): Promise<void> {
    if (this.#stream === process.stdout) {
      await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
      return;
    }
    this.#stream.end();
    await finished(this.#stream);
  }

  #problemOf(error: NodeJS.ErrnoException): Error {
    if (error.code === 'EEXIST') return new UsageError(outputExists(this.#name));
    return new RunError(`${this.#name} cannot be written: ${error.message}`);
  }
}
