import { setTimeout as sleep } from 'node:timers/promises';

/** Jest's own for a test, unless the file has another (jest.config.js). */
const TEST_LIMIT_MS = 120_000;

/** Shorter than that for a test, so that a wait that fails says what it waited for. */
let waitLimitMs = waitLimitOf(TEST_LIMIT_MS);

function waitLimitOf(testLimitMs: number): number {
  return Math.min((testLimitMs * 5) / 6, 600_000);
}

/** Gives each test of this file so long, and waits in them their share of it. */
export function setTestLimit(milliseconds: number): void {
  jest.setTimeout(milliseconds);
  waitLimitMs = waitLimitOf(milliseconds);
}

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
  { everyMs = 10, limitMs = waitLimitMs }: Waiting = {},
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

/**
 * What a promise resolves with, which comes by itself, without a look at anything again and again.
 *
 * @param what is waited for, said when it has not come in time
 * @throws Error that names it
 */
export async function within<Value>(
  what: () => string,
  promise: Promise<Value>,
  limitMs = waitLimitMs,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`waited ${limitMs / 1000} s for ${what()}`));
    timer = setTimeout(giveUp, limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
