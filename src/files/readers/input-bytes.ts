import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isZstd, unzstd } from '../../lib/unzstd';
import { RunError } from '../file-errors';
import { inferFromName } from '../formats';
import type { InputFile } from '../input-files';

const BLOCK_BYTES = 256 * 1024;
/** Minimum size of the first block: enough for a magic number or byte order mark. */
const MIN_FIRST_BYTES = 4;
const GZIP = Buffer.from([0x1f, 0x8b]);

export interface Block {
  readonly bytes: Buffer;
  /** Fraction of the file that has been read, 0 to 1; null for standard input. */
  readonly fraction: number | null;
}

/**
 * Reads the bytes of an input. Decompresses gzip and zstd, detected by their magic numbers, and verifies checksums.
 * The first block has at least four bytes if the input has four bytes.
 *
 * @throws RunError
 */
export async function* readBlocks({ path, name, size }: InputFile): AsyncGenerator<Block> {
  const file = path === null ? null : createReadStream(path, { highWaterMark: BLOCK_BYTES });
  const source = file ?? process.stdin;
  try {
    const raw = fillFirstBlock(source[Symbol.asyncIterator]());
    for await (const bytes of fillFirstBlock(decompress(raw, name))) {
      yield { bytes, fraction: file && Math.min(1, file.bytesRead / size) };
    }
  } catch (error) {
    throw new RunError(`${name}: read failed: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

/** Joins the first blocks; a pipe or a gzip member can yield single bytes. */
async function* fillFirstBlock(blocks: AsyncIterableIterator<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < MIN_FIRST_BYTES) {
    const { value, done } = await blocks.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  if (start.length > 0) yield start;
  yield* blocks;
}

async function* decompress(raw: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  const { value: start = Buffer.alloc(0) } = await raw.next();
  async function* whole(): AsyncGenerator<Buffer> {
    if (start.length > 0) yield start;
    yield* raw;
  }
  if (isZstd(start)) return yield* unzstd(whole());
  if (GZIP.equals(start.subarray(0, GZIP.length))) return yield* gunzip(whole());
  const { compression } = inferFromName(name);
  if (compression !== 'none') {
    throw new Error(
      `the file extension indicates ${compression}, but the content is not ${compression}`,
    );
  }
  yield* whole();
}

/** Decompresses gzip members. Node.js ignores bytes after padding zeros; this function rejects them. */
async function* gunzip(blocks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  let lastNonZero = -1;
  const count = (block: Buffer): Buffer => {
    const at = block.findLastIndex((byte) => byte !== 0);
    if (at >= 0) lastNonZero = bytes + at;
    bytes += block.length;
    return block;
  };
  /** Keeps `blocks` open when the decompressor stops reading. */
  async function* counted(): AsyncGenerator<Buffer> {
    for (let next = await blocks.next(); !next.done; next = await blocks.next()) {
      yield count(next.value);
    }
  }
  const stream = createGunzip({ chunkSize: BLOCK_BYTES });
  // Errors of both streams reach the consumer of the last stream.
  yield* pipeline(counted(), stream, () => {});
  for await (const block of blocks) count(block);
  if (lastNonZero >= stream.bytesWritten) {
    throw new Error('unexpected bytes after the gzip data');
  }
}
