import { setTimeout as sleep } from 'node:timers/promises';

/** Below Jest's own limit for a test (jest.config.js), so that a wait that fails says what it waited for. */
const LIMIT_MS = 100_000;

export interface Waiting {
  /** Milliseconds between two looks. */
  readonly everyMs?: number;
  /** Milliseconds after which it gives up: for what never comes, not for what is slow. */
  readonly limitMs?: number;
}

/**
 * Asks until the answer is neither false, null nor undefined, and returns it.
 *
 * @param what is waited for, as in "waited 100 s for WHAT"
 * @throws Error that names it, and at once what a look throws
 */
export async function until<Answer>(
  what: string,
  ask: () => Answer | Promise<Answer>,
  { everyMs = 10, limitMs = LIMIT_MS }: Waiting = {},
): Promise<Exclude<Answer, false | null | undefined>> {
  const end = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) {
      return answer as Exclude<Answer, false | null | undefined>;
    }
    if (performance.now() > end) throw new Error(`waited ${limitMs / 1000} s for ${what}`);
    await sleep(everyMs);
  }
}
