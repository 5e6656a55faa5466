import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { RunError } from '../errors';
import type { Input } from './expand';

const BLOCK_BYTES = 256 * 1024;
const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** The bytes of an input, decompressed where they begin as gzip or zstd do. */
export class InputBytes {
  readonly #input: Input;
  #source: Readable | null = null;
  #bytesRead = 0;

  constructor(input: Input) {
    this.#input = input;
  }

  /** From 0 to 1; null: of a pipe. */
  fractionRead(): number | null {
    if (this.#input.path === null) return null;
    return this.#input.size === 0 ? 1 : Math.min(1, this.#bytesRead / this.#input.size);
  }

  /** @throws RunError that names the file */
  async *blocks(): AsyncGenerator<Buffer> {
    try {
      yield* this.#blocks();
    } catch (error) {
      if (error instanceof RunError) throw error;
      throw new RunError(`${this.#input.name}: cannot be read: ${(error as Error).message}`);
    }
  }

  close(): void {
    this.#source?.destroy();
  }

  async *#blocks(): AsyncGenerator<Buffer> {
    const raw = this.#read();
    const { start, rest } = await takeStart(raw);
    const all = prepend(start, rest);
    if (beginsWith(start, GZIP)) yield* gunzip(all);
    else if (beginsWith(start, ZSTD)) yield* unzstd(all);
    else yield* all;
  }

  async *#read(): AsyncGenerator<Buffer> {
    const { path } = this.#input;
    this.#source =
      path === null ? process.stdin : createReadStream(path, { highWaterMark: BLOCK_BYTES });
    for await (const block of this.#source) {
      this.#bytesRead += (block as Buffer).length;
      yield block as Buffer;
    }
  }
}

function beginsWith(start: Buffer, magic: readonly number[]): boolean {
  return start.length >= magic.length && magic.every((byte, index) => start[index] === byte);
}

/** A pipe may give its first bytes one by one. */
async function takeStart(raw: AsyncGenerator<Buffer>) {
  let start = Buffer.alloc(0);
  while (start.length < ZSTD.length) {
    const { value, done } = await raw.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  return { start, rest: raw };
}

async function* prepend(start: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  yield* rest;
}

async function* gunzip(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { Readable } = require('node:stream') as typeof import('node:stream');
  const source = Readable.from(blocks);
  const stream = createGunzip({ chunkSize: BLOCK_BYTES });
  source.on('error', (error) => stream.destroy(error));
  for await (const block of source.pipe(stream)) yield block as Buffer;
}

/** Node 20 knows no zstd. A block becomes at most a few windows of the file, which bounds what waits. */
async function* unzstd(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let ready: Buffer[] = [];
  // The library writes into the same memory again.
  const stream = new Decompress((part) => ready.push(Buffer.from(part)));
  for await (const block of blocks) {
    stream.push(block, false);
    yield* ready;
    ready = [];
  }
  stream.push(new Uint8Array(0), true);
  yield* ready;
}
