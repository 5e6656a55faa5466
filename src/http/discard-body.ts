import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'express';

/** Maximum time and size for the rest of a body. */
const MAX_MS = 10_000;
const MAX_BYTES = 256 * 1024 ** 2;

/**
 * Reads and discards the rest of a body before an error response. If the server closed the connection with unread data,
 * the client would get a connection reset instead of the response.
 *
 * @returns whether the body was read to its end; otherwise the connection has no further use
 */
export async function discardBody(request: Request): Promise<boolean> {
  if (request.readableEnded || request.destroyed) return true;
  const controller = new AbortController();
  const { signal } = controller;
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) controller.abort();
  };
  request.on('data', count);
  const ends = [
    once(request, 'end', { signal }),
    once(request, 'close', { signal }),
    delay(MAX_MS, undefined, { signal }),
  ];
  await Promise.race(ends).catch(() => {}); // aborted, or the client has disconnected
  controller.abort();
  await Promise.allSettled(ends);
  request.off('data', count).pause();
  return request.readableEnded;
}
