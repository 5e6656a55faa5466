import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RunError } from '../file-errors';
import { inferFromName } from '../formats';
import type { InputFile } from '../input-files';
import { isZstd, unzstd } from './zstd-reader';

const BLOCK_BYTES = 256 * 1024;
/** Enough to tell how a file is compressed, and to hold a byte order mark. */
const START_BYTES = 4;
const GZIP = Buffer.from([0x1f, 0x8b]);

export interface Block {
  readonly bytes: Buffer;
  /** How much of the input has been read, from 0 to 1; null: of a pipe. */
  readonly fraction: number | null;
}

/**
 * The bytes of an input, decompressed where they begin as gzip or zstd do, and verified by the checksums of either.
 * The first block has at least four bytes if the input has.
 *
 * @throws RunError that names the file
 */
export async function* readBlocks({ path, name, size }: InputFile): AsyncGenerator<Block> {
  const file = path === null ? null : createReadStream(path, { highWaterMark: BLOCK_BYTES });
  const source = file ?? process.stdin;
  try {
    const raw = startingWhole(source[Symbol.asyncIterator]());
    for await (const bytes of startingWhole(decompressed(raw, name))) {
      yield { bytes, fraction: file && Math.min(1, file.bytesRead / size) };
    }
  } catch (error) {
    throw new RunError(`${name}: cannot be read: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

/** A pipe, or a member of gzip, may give its first bytes one by one. */
async function* startingWhole(blocks: AsyncIterableIterator<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < START_BYTES) {
    const { value, done } = await blocks.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  if (start.length > 0) yield start;
  yield* blocks;
}

async function* decompressed(raw: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  const { value: start = Buffer.alloc(0) } = await raw.next();
  async function* whole(): AsyncGenerator<Buffer> {
    if (start.length > 0) yield start;
    yield* raw;
  }
  if (isZstd(start)) return yield* unzstd(whole());
  if (GZIP.equals(start.subarray(0, GZIP.length))) return yield* gunzip(whole());
  const { compression } = inferFromName(name);
  if (compression !== 'none') {
    throw new Error(`is named like ${compression}, and does not begin as ${compression} does`);
  }
  yield* whole();
}

/** Node.js verifies each member, and ignores what is behind zeros: only zeros may be. */
async function* gunzip(blocks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  let lastNonZero = -1;
  const count = (block: Buffer): Buffer => {
    const at = block.findLastIndex((byte) => byte !== 0);
    if (at >= 0) lastNonZero = bytes + at;
    bytes += block.length;
    return block;
  };
  /** Does not end `blocks` when the decompressor has had enough. */
  async function* counted(): AsyncGenerator<Buffer> {
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) {
      yield count(next.value);
    }
  }
  const stream = createGunzip({ chunkSize: BLOCK_BYTES });
  // Errors of either reach whoever reads the last one.
  yield* pipeline(counted(), stream, () => {});
  for await (const block of blocks) count(block);
  if (lastNonZero >= stream.bytesWritten) {
    throw new Error('has other bytes behind the end of its gzip data');
  }
}
