import { ByteReader, DamageError } from './bytes';

/** Kinds of chunks. */
export const TAG = {
  fileHeader: 1,
  streamHeader: 2,
  samples: 3,
  clockOffset: 4,
  boundary: 5,
  streamFooter: 6,
} as const;
/** Number of damaged places after which reading ends. */
export const MAX_DAMAGED = 10_000;
/** Highest plausible tag: readers skip tags that they do not know. */
const MAX_TAG = 0xff;
const MAGIC = 'XDF:';
/** UUID of boundary chunks, from which a reader continues after damage. */
const BOUNDARY = Uint8Array.of(
  ...[0x43, 0xa5, 0x46, 0xdc, 0xcb, 0xf5, 0x41, 0x0f],
  ...[0xb3, 0x0e, 0xd5, 0x46, 0x73, 0x83, 0xcb, 0xe4],
);

export interface Chunk {
  readonly tag: number;
  /** Content after the tag. */
  readonly content: ByteReader;
}

export function isXdf(start: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(start.subarray(0, MAGIC.length)) === MAGIC;
}

/**
 * Calls a function for each chunk. After damage, reading continues with the next chunk if its length is plausible,
 * else behind the next boundary chunk.
 *
 * @param visit throws `DamageError` for a damaged chunk
 * @returns number of damaged places
 */
export function visitChunks(bytes: Uint8Array, visit: (chunk: Chunk) => void): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let damaged = 0;
  let at = MAGIC.length;
  while (at < bytes.length) {
    const chunk = chunkAt(view, at);
    const isRead = chunk !== null && tryVisit(chunk, visit);
    if (!isRead) damaged++;
    if (damaged > MAX_DAMAGED) return damaged;
    const isNext =
      chunk !== null && (isRead || chunk.end === bytes.length || chunkAt(view, chunk.end));
    at = isNext ? chunk.end : findBoundary(bytes, at);
  }
  return damaged;
}

/** Chunk at an offset; null if the bytes are not the start of a chunk. */
function chunkAt(view: DataView, at: number): (Chunk & { readonly end: number }) | null {
  try {
    const reader = new ByteReader(view, at, view.byteLength);
    const length = reader.length();
    const start = reader.skip(length);
    const content = new ByteReader(view, start, reader.at);
    const tag = content.uint16();
    return tag >= TAG.fileHeader && tag <= MAX_TAG ? { tag, content, end: reader.at } : null;
  } catch (error) {
    if (error instanceof DamageError) return null;
    throw error;
  }
}

/** @returns whether the chunk is not damaged */
function tryVisit(chunk: Chunk, visit: (chunk: Chunk) => void): boolean {
  try {
    visit(chunk);
    return true;
  } catch (error) {
    if (error instanceof DamageError) return false;
    throw error;
  }
}

/** Offset behind the next boundary; the end of the file if no boundary follows. */
function findBoundary(bytes: Uint8Array, from: number): number {
  let matched = 0;
  // No proper prefix of the boundary ends with its first byte, so that a mismatch restarts at this byte.
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== BOUNDARY[matched]) matched = 0;
    if (bytes[at] === BOUNDARY[matched]) matched++;
    if (matched === BOUNDARY.length) return at + 1;
  }
  return bytes.length;
}
