/** Maximum time for a client to send a request, and to take its response, in ms. */
export const CLIENT_TIMEOUT_MS = 60_000;
/** Time after which a client that holds memory can be disconnected to make room for others, in ms. */
export const HOLD_TIMEOUT_MS = 1000;

/**
 * Interval at which a draining server checks unfinished requests, in ms, and consecutive checks without progress
 * after which it aborts one. Checks are counted instead of time: if the event loop is blocked, bytes that the kernel
 * has received meanwhile are read before the next check.
 */
export const STALL_CHECK_MS = 100;
export const MAX_STALLED_CHECKS = 10;

/** Time reserved after draining, for the last log lines and spans, in ms; at most half of the shutdown time. */
const RESERVED_MS = 2000;

/** Time to wait for clients during shutdown, in ms. @param shutdownMs total time */
export function drainTimeout(shutdownMs: number): number {
  return shutdownMs - Math.min(RESERVED_MS, shutdownMs / 2);
}
