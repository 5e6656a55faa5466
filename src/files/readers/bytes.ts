import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { RunError } from '../errors';
import type { Input } from '../inputs';

const BLOCK_BYTES = 256 * 1024;
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

export interface Block {
  readonly bytes: Buffer;
  /** How much of the input has been read, from 0 to 1; null: of a pipe. */
  readonly fraction: number | null;
}

/**
 * The bytes of an input, decompressed where they begin as gzip or zstd do.
 *
 * @throws RunError that names the file
 */
export async function* readBlocks({ path, name, size }: Input): AsyncGenerator<Block> {
  const file = path === null ? null : createReadStream(path, { highWaterMark: BLOCK_BYTES });
  const source = file ?? process.stdin;
  try {
    for await (const bytes of await decompressed(source[Symbol.asyncIterator]())) {
      yield { bytes, fraction: file && Math.min(1, file.bytesRead / size) };
    }
  } catch (error) {
    throw new RunError(`${name}: cannot be read: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

async function decompressed(raw: AsyncIterableIterator<Buffer>): Promise<AsyncIterable<Buffer>> {
  // A pipe may give its first bytes one by one.
  let start = Buffer.alloc(0);
  while (start.length < ZSTD.length) {
    const { value, done } = await raw.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* whole(): AsyncGenerator<Buffer> {
    if (start.length > 0) yield start;
    yield* raw;
  }
  const beginsWith = (magic: Buffer) => magic.equals(start.subarray(0, magic.length));
  if (beginsWith(ZSTD)) return unzstd(whole());
  if (!beginsWith(GZIP)) return whole();
  // Errors of either reach whoever reads the last one.
  return pipeline(whole(), createGunzip({ chunkSize: BLOCK_BYTES }), () => {});
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
