import { Decompress } from 'fzstd';
import xxhash from 'xxhash-wasm';

const MAGIC = 0xfd2fb528;
/** First of the 16 magic numbers of skippable frames. */
const SKIPPABLE = 0x184d2a50;
/** Default maximum window, as in the zstd command without --long. */
const MAX_WINDOW_BYTES = 128 * 1024 ** 2;
const MAX_BLOCK_BYTES = 128 * 1024;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE = 1;
const RESERVED_BLOCK = 3;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;

type Hash = ReturnType<Awaited<ReturnType<typeof xxhash>>['create64']>;

interface FrameHeader {
  readonly bytes: Buffer;
  /** Size of the content in bytes; null if the frame does not contain it. */
  readonly contentSize: bigint | null;
  readonly hasChecksum: boolean;
}

export interface ZstdLimits {
  /** Maximum window of a frame in bytes. */
  readonly windowBytes?: number;
  /** Maximum size of the content in bytes. No frame gets a larger window. */
  readonly contentBytes?: number;
  /** Called before each frame and block, which take time without content. @throws to reject the input */
  readonly onStep?: () => Promise<void> | void;
}

/** The content is larger than `ZstdLimits.contentBytes`. */
export class ZstdContentTooLarge extends Error {
  override readonly name = 'ZstdContentTooLarge';
}

/** Returns whether a file starts with a zstd magic number. */
export function isZstd(start: Buffer): boolean {
  if (start.length < 4) return false;
  const magic = start.readUInt32LE(0);
  return magic === MAGIC || isSkippable(magic);
}

const isSkippable = (magic: number) => (magic & 0xfffffff0) >>> 0 === SKIPPABLE;

/**
 * Decompresses concatenated zstd frames (RFC 8878). fzstd decodes blocks, but verifies neither checksum nor size of a
 * frame; this function verifies both. Memory: one block and the window of the frame.
 *
 * Rejected alternatives: `decompressChunk` of @hpcc-js/wasm-zstd loses output beyond the given size, zstddec does not end
 * on an error, @oneidentity/zstd-js has 67 MB. node:zlib supports zstd from Node.js 22.15 on.
 *
 * @throws ZstdContentTooLarge; Error that describes the problem
 */
export async function* unzstd(
  blocks: AsyncIterable<Buffer>,
  limits: ZstdLimits = {},
): AsyncGenerator<Buffer> {
  const { create64 } = await xxhash();
  const { windowBytes = MAX_WINDOW_BYTES, contentBytes = Infinity, onStep = () => {} } = limits;
  const input = new ByteReader(blocks);
  let left = contentBytes;
  for (let start = await input.upTo(4); start.length > 0; start = await input.upTo(4)) {
    await onStep();
    const magic = start.length === 4 ? start.readUInt32LE(0) : 0;
    if (isSkippable(magic)) {
      await input.skip((await input.exactly(4)).readUInt32LE(0));
    } else if (magic === MAGIC) {
      const header = await readHeader(input, start, { windowBytes, contentBytes });
      if (header.contentSize !== null && header.contentSize > left) throw new ZstdContentTooLarge();
      const hash = header.hasChecksum ? create64() : null;
      for await (const part of decompressFrame(input, header, hash, onStep)) {
        left -= part.length;
        if (left < 0) throw new ZstdContentTooLarge();
        yield part;
      }
    } else {
      throw new Error('unexpected bytes after the last zstd frame');
    }
  }
}

async function readHeader(
  input: ByteReader,
  magic: Buffer,
  { windowBytes: maxWindowBytes, contentBytes }: Required<Omit<ZstdLimits, 'onStep'>>,
): Promise<FrameHeader> {
  const [descriptor = 0] = await input.exactly(1);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (descriptor & 0x08) throw new Error('zstd frame with a reserved bit');
  const windowBytes = isSingleSegment ? 0 : 1;
  const dictionaryBytes = DICTIONARY_ID_BYTES[descriptor & 3] as number;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  const rest = await input.exactly(windowBytes + dictionaryBytes + sizeBytes);
  if (rest.subarray(windowBytes, windowBytes + dictionaryBytes).some((byte) => byte !== 0)) {
    throw new Error('zstd dictionaries are not supported');
  }
  const contentSize =
    sizeBytes === 0
      ? null
      : readLittleEndian(rest.subarray(-sizeBytes)) + (sizeBytes === 2 ? 256n : 0n);
  const window = isSingleSegment ? (contentSize as bigint) : windowSize(rest[0] as number);
  if (window > maxWindowBytes) {
    const limit = maxWindowBytes / 1024 ** 2;
    throw new Error(`zstd window larger than ${limit} MiB. Compress without --long`);
  }
  // No match is further back than the content is long, and the library allocates the window.
  if (!isSingleSegment && window > contentBytes) rest[0] = windowDescriptor(contentBytes);
  const bytes = Buffer.concat([magic, Buffer.of(descriptor), rest]);
  return { bytes, contentSize, hasChecksum: (descriptor & 0x04) !== 0 };
}

function windowSize(descriptor: number): bigint {
  const base = 1n << BigInt(10 + (descriptor >> 3));
  return base + (base / 8n) * BigInt(descriptor & 7);
}

/** Descriptor of the smallest power of two of at least `bytes`, and of a block. */
function windowDescriptor(bytes: number): number {
  return (Math.ceil(Math.log2(Math.max(bytes, MAX_BLOCK_BYTES))) - 10) << 3;
}

function readLittleEndian(bytes: Buffer): bigint {
  return bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);
}

/** Decompresses one frame. @param hash null for a frame without a checksum */
async function* decompressFrame(
  input: ByteReader,
  { bytes, contentSize }: FrameHeader,
  hash: Hash | null,
  onStep: NonNullable<ZstdLimits['onStep']>,
): AsyncGenerator<Buffer> {
  let ready: Buffer[] = [];
  let size = 0n;
  const frame = new Decompress((part) => {
    // The library reuses the memory of `part`.
    ready.push(Buffer.from(part));
    size += BigInt(part.length);
    hash?.update(part);
  });
  frame.push(bytes, false);
  for (let isLast = false; !isLast; ) {
    await onStep();
    const header = await input.exactly(BLOCK_HEADER_BYTES);
    const bits = header.readUIntLE(0, BLOCK_HEADER_BYTES);
    const [kind, length] = [(bits >> 1) & 3, bits >> 3];
    isLast = (bits & 1) !== 0;
    if (kind === RESERVED_BLOCK || length > MAX_BLOCK_BYTES) {
      throw new Error('invalid block in a zstd frame');
    }
    frame.push(Buffer.concat([header, await input.exactly(kind === RLE ? 1 : length)]), false);
    yield* ready;
    ready = [];
  }
  const checksum = await input.exactly(hash ? CHECKSUM_BYTES : 0);
  // The library decodes short frames only at the end.
  frame.push(checksum, true);
  yield* ready;
  if (hash && BigInt.asUintN(32, hash.digest()) !== BigInt(checksum.readUInt32LE(0))) {
    throw new Error('zstd checksum mismatch');
  }
  if (contentSize !== null && contentSize !== size) {
    throw new Error('zstd content size mismatch');
  }
}

/** Reads a given number of bytes from a sequence of blocks. */
class ByteReader {
  readonly #blocks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(blocks: AsyncIterable<Buffer>) {
    this.#blocks = blocks[Symbol.asyncIterator]();
  }

  /** Reads `count` bytes, or fewer at the end. */
  async upTo(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#next())) break;
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** Reads `count` bytes. @throws Error at the end of the input */
  async exactly(count: number): Promise<Buffer> {
    const bytes = await this.upTo(count);
    if (bytes.length < count) throw new Error('truncated zstd frame');
    return bytes;
  }

  async skip(count: number): Promise<void> {
    let left = count;
    while (left > 0) left -= (await this.exactly(Math.min(left, MAX_BLOCK_BYTES))).length;
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#blocks.next();
    if (!done) this.#rest = value;
    return !done;
  }
}
