import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'express';

/** Maximum time and size for the rest of a body. */
const MAX_MS = 10_000;
const MAX_BYTES = 256 * 1024 ** 2;

/**
 * Reads and discards the rest of a body before an error response. If the server closed the connection with unread data,
 * the client would get a connection reset instead of the response.
 */
export async function discardBody(request: Request): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const controller = new AbortController();
  const { signal } = controller;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) controller.abort();
  });
  request.resume();
  const ends = [
    once(request, 'end', { signal }),
    once(request, 'close', { signal }),
    delay(MAX_MS, undefined, { signal }),
  ];
  await Promise.race(ends).catch(() => {}); // aborted, or the client has disconnected
  controller.abort();
  await Promise.allSettled(ends);
}
