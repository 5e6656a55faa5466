import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { RunError, UsageError } from '../../../files/file-errors';
import { STANDARD_STREAM } from '../../../files/formats';
import { SendBuffer } from '../../../serving/send-buffer';

export const outputExists = (file: string) =>
  `${file}: file exists. Use another file, or --overwrite`;

/** Writes JSON lines to a file or standard output, without a delay. */
export class FollowOutput {
  readonly #name: string;
  readonly #stream: NodeJS.WritableStream & { readonly writableLength: number };
  readonly #sendBuffer: SendBuffer;
  /** Rejects when a write fails. */
  readonly failed: Promise<never>;

  /** @param onDrain see `SendBuffer` */
  constructor(output: string, overwrites: boolean, onDrain: () => void) {
    const isPipe = output === STANDARD_STREAM;
    this.#name = isPipe ? 'standard output' : output;
    this.#stream = isPipe
      ? process.stdout
      : createWriteStream(output, { flags: overwrites ? 'w' : 'wx' });
    this.#sendBuffer = new SendBuffer(this.#stream);
    this.#sendBuffer.onDrain = onDrain;
    this.failed = new Promise((_, reject) => {
      this.#stream.on('error', (error: NodeJS.ErrnoException) => reject(this.#problemOf(error)));
    });
    this.failed.catch(() => {}); // Callers that await `failed` get the error.
  }

  /** Number of bytes that are not written yet. */
  get unsent(): number {
    return this.#sendBuffer.bytes;
  }

  write(json: string): void {
    this.#stream.write(`${json}\n`, this.#sendBuffer.add(json.length + 1));
  }

  /** Resolves when everything is written. */
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
