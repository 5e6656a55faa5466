/** How long a client may take for its request, and as long for its answer, in ms. */
export const CLIENT_TIMEOUT_MS = 60_000;
/** How long it may hold bytes before it is cut off where there is no room for others, in ms. */
export const PATIENCE_MS = 1000;

/**
 * How often a service that drains looks at what is still on its way to it, in ms, and in how many looks
 * after each other that may stand still. Looks, not time: where the event loop is held up, what the
 * kernel has got meanwhile is read before the next look.
 */
export const LOOK_MS = 100;
export const STILL_LOOKS = 10;

/** What is kept of the time for the way out when nothing is waited for any more, in ms: at most half. */
const LAST_MS = 2000;

/** How long clients may be waited for, of the time that a process has for its way out, in ms. */
export function drainTimeout(timeMs: number): number {
  return timeMs - Math.min(LAST_MS, timeMs / 2);
}
