import type { Request } from 'express';
import { TimeSlice } from '../lib/time-slice';
import { unzstd, ZstdContentTooLarge } from '../lib/unzstd';
import { ServiceError } from '../serving/errors';
import { discardBody } from './discard-body';

/** Maximum window of a frame, as RFC 9659 sets it for the content coding. */
const MAX_WINDOW_BYTES = 8 * 1024 ** 2;
/**
 * Frames and blocks without content, and content of a block on average. The decoder copies the window for each block, so
 * that a body of empty blocks would take minutes.
 */
const FREE_STEPS = 64;
const BYTES_PER_STEP = 4096;

/**
 * Reads a body with Content-Encoding zstd, in time slices. The limit applies to the content, while it is decoded.
 *
 * @throws ServiceError BODY_TOO_LARGE, BODY_INVALID, CANCELLED
 */
export async function readZstdBody(request: Request, limit: number): Promise<Buffer> {
  try {
    return await decode(request, limit);
  } catch (error) {
    if (request.destroyed && !request.complete) {
      throw new ServiceError('CANCELLED', 'The client disconnected.');
    }
    if (!(await discardBody(request))) request.res?.setHeader('Connection', 'close');
    if (error instanceof ZstdContentTooLarge) {
      throw new ServiceError('BODY_TOO_LARGE', `The body exceeds the limit of ${limit} bytes.`);
    }
    throw new ServiceError('BODY_INVALID', 'body: cannot be decoded with its Content-Encoding');
  }
}

async function decode(request: Request, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  const slice = new TimeSlice();
  let [bytes, steps] = [0, 0];
  const onStep = async (): Promise<void> => {
    if (++steps > FREE_STEPS + bytes / BYTES_PER_STEP) throw new Error('too many zstd blocks');
    if (slice.isExpired) await slice.yieldToEventLoop();
  };
  // The request stays open for the error response.
  const compressed = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const limits = { windowBytes: MAX_WINDOW_BYTES, contentBytes: limit, onStep };
  for await (const part of unzstd(compressed, limits)) {
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts, bytes);
}
