import { Decompress } from 'fzstd';
import xxhash from 'xxhash-wasm';

const MAGIC = 0xfd2fb528;
/** First of the 16 magic numbers of frames that hold no content. */
const SKIPPABLE = 0x184d2a50;
/** As the zstd command has it: a larger window needs its --long. */
const LARGEST_WINDOW_BYTES = 128 * 1024 ** 2;
const LARGEST_BLOCK_BYTES = 128 * 1024;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE = 1;
const RESERVED_BLOCK = 3;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;

type Hash = ReturnType<Awaited<ReturnType<typeof xxhash>>['create64']>;

interface FrameHeader {
  readonly bytes: Buffer;
  /** Bytes of the content; null: the frame does not say. */
  readonly contentSize: bigint | null;
  readonly hasChecksum: boolean;
}

/** Whether a file begins as zstd does. */
export function isZstd(start: Buffer): boolean {
  if (start.length < 4) return false;
  const magic = start.readUInt32LE(0);
  return magic === MAGIC || isSkippable(magic);
}

const isSkippable = (magic: number) => (magic & 0xfffffff0) >>> 0 === SKIPPABLE;

/**
 * The content of zstd frames, one after the other (RFC 8878). fzstd decodes blocks, and verifies neither the
 * checksum of a frame nor its size: here both are. A block of content is in memory, and a window of the frame.
 *
 * @throws Error that says what is wrong with the file
 */
export async function* unzstd(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { create64 } = await xxhash();
  const input = new ByteReader(blocks);
  for (let start = await input.upTo(4); start.length > 0; start = await input.upTo(4)) {
    const magic = start.length === 4 ? start.readUInt32LE(0) : 0;
    if (isSkippable(magic)) {
      await input.skip((await input.exactly(4)).readUInt32LE(0));
    } else if (magic === MAGIC) {
      const header = await readHeader(input, start);
      yield* contentOf(input, header, header.hasChecksum ? create64() : null);
    } else {
      throw new Error('expected a zstd frame, found other bytes behind the last one');
    }
  }
}

async function readHeader(input: ByteReader, magic: Buffer): Promise<FrameHeader> {
  const [descriptor = 0] = await input.exactly(1);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (descriptor & 0x08) throw new Error('its zstd frame has a reserved bit');
  const windowBytes = isSingleSegment ? 0 : 1;
  const dictionaryBytes = DICTIONARY_ID_BYTES[descriptor & 3] as number;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  const rest = await input.exactly(windowBytes + dictionaryBytes + sizeBytes);
  if (rest.subarray(windowBytes, windowBytes + dictionaryBytes).some((byte) => byte !== 0)) {
    throw new Error('is compressed with a zstd dictionary');
  }
  const contentSize =
    sizeBytes === 0
      ? null
      : littleEndian(rest.subarray(-sizeBytes)) + (sizeBytes === 2 ? 256n : 0n);
  const window = isSingleSegment ? (contentSize as bigint) : windowOf(rest[0] as number);
  if (window > LARGEST_WINDOW_BYTES) {
    throw new Error('its zstd window is larger than 128 MiB: compress it without --long');
  }
  const bytes = Buffer.concat([magic, Buffer.of(descriptor), rest]);
  return { bytes, contentSize, hasChecksum: (descriptor & 0x04) !== 0 };
}

function windowOf(descriptor: number): bigint {
  const base = 1n << BigInt(10 + (descriptor >> 3));
  return base + (base / 8n) * BigInt(descriptor & 7);
}

function littleEndian(bytes: Buffer): bigint {
  return bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);
}

/** @param hash null: the frame has no checksum */
async function* contentOf(
  input: ByteReader,
  { bytes, contentSize }: FrameHeader,
  hash: Hash | null,
): AsyncGenerator<Buffer> {
  let ready: Buffer[] = [];
  let size = 0n;
  const frame = new Decompress((part) => {
    // The library writes into the same memory again.
    ready.push(Buffer.from(part));
    size += BigInt(part.length);
    hash?.update(part);
  });
  frame.push(bytes, false);
  for (let isLast = false; !isLast; ) {
    const header = await input.exactly(BLOCK_HEADER_BYTES);
    const bits = header.readUIntLE(0, BLOCK_HEADER_BYTES);
    const [kind, length] = [(bits >> 1) & 3, bits >> 3];
    isLast = (bits & 1) !== 0;
    if (kind === RESERVED_BLOCK || length > LARGEST_BLOCK_BYTES) {
      throw new Error('its zstd frame has a block that cannot be one');
    }
    frame.push(Buffer.concat([header, await input.exactly(kind === RLE ? 1 : length)]), false);
    yield* ready;
    ready = [];
  }
  const checksum = await input.exactly(hash ? CHECKSUM_BYTES : 0);
  // Of a short frame, the library decodes nothing before the end.
  frame.push(checksum, true);
  yield* ready;
  if (hash && BigInt.asUintN(32, hash.digest()) !== BigInt(checksum.readUInt32LE(0))) {
    throw new Error('its zstd checksum does not match: it is damaged');
  }
  if (contentSize !== null && contentSize !== size) {
    throw new Error('its zstd frame has another size than it says: it is damaged');
  }
}

/** Bytes by their number, from blocks of any length. */
class ByteReader {
  readonly #blocks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(blocks: AsyncIterable<Buffer>) {
    this.#blocks = blocks[Symbol.asyncIterator]();
  }

  /** Fewer at the end only. */
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

  /** @throws Error: fewer are there */
  async exactly(count: number): Promise<Buffer> {
    const bytes = await this.upTo(count);
    if (bytes.length < count) throw new Error('is cut off in a zstd frame');
    return bytes;
  }

  async skip(count: number): Promise<void> {
    let left = count;
    while (left > 0) left -= (await this.exactly(Math.min(left, LARGEST_BLOCK_BYTES))).length;
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#blocks.next();
    if (!done) this.#rest = value;
    return !done;
  }
}
