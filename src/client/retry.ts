import { sleep } from './abort-signals';
import { ResponseError, StreamError } from './client-errors';

export interface RetryOptions {
  /**
   * How many times a request is sent again that was refused (429, 503), lost (no connection, 408, 502)
   * or not answered in time (504, `timeoutMs`; at most twice, for each costs a whole deadline). Between
   * two times are what `Retry-After` says and a random part of 250 ms, 500 ms, 1 s … 30 s. Sending
   * again is harmless: an answer is computed from the request alone. Default: 0; of `analyzeAll`,
   * `predictAll` and `stream` 20.
   */
  readonly retries?: number;
  /** No time begins later than this after the first, in ms. Default: 300,000. */
  readonly retryForMs?: number;
  /** Told before each wait. */
  readonly onRetry?: (error: Error, waitMs: number) => void;
}

export interface CallOptions extends RetryOptions {
  /** Aborted: the call rejects with the signal's reason, and the service drops the request. */
  readonly signal?: AbortSignal;
  /** In ms, each time. When it has passed the call rejects with a DOMException named TimeoutError. */
  readonly timeoutMs?: number;
}

const RETRY_FOR_MS = 300_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
const MOST_TIMEOUTS = 2;
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** Of closed streams: the service goes, the connection broke, no room, answers not taken; and what proxies say. */
const TEMPORARY_CLOSES: ReadonlySet<number> = new Set([
  ...[1001, 1005, 1006, 1011, 1012, 1013, 1014, 4408],
]);

/** @throws what the last attempt threw, or the signal's reason */
export async function withRetries<Answer>(
  attempt: () => Promise<Answer>,
  options: CallOptions,
): Promise<Answer> {
  const { retries = 0, retryForMs = RETRY_FOR_MS, onRetry, signal } = options;
  const startedAt = performance.now();
  let timeouts = 0;
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || retry >= retries || !isTemporary(error)) throw error;
      if (isTimeout(error) && ++timeouts > MOST_TIMEOUTS) throw error;
      const waitMs = waitBefore(retry, error);
      if (performance.now() - startedAt + waitMs > retryForMs) throw error;
      onRetry?.(error, waitMs);
      await sleep(waitMs, signal);
    }
  }
}

/** Nobody answered within the deadline of the service or of the client. */
export function isTimeout(error: unknown): error is Error {
  return error instanceof ResponseError ? error.status === 504 : nameOf(error) === 'TimeoutError';
}

/** Trying again may help. */
export function isTemporary(error: unknown): error is Error {
  if (error instanceof ResponseError) return TEMPORARY.has(error.status);
  if (error instanceof StreamError) return TEMPORARY_CLOSES.has(error.code);
  if (isTimeout(error)) return true;
  // What `fetch` throws where there is no connection, or it breaks; and for a URL that is none.
  return nameOf(error) === 'TypeError' && codeOf(error) !== 'ERR_INVALID_URL';
}

/** `fetch` may be of another realm, where `TypeError` is another class. */
function nameOf(error: unknown): unknown {
  return (error as { readonly name?: unknown } | null)?.name;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly cause?: { readonly code?: unknown } }).cause?.code;
}

/** Clients that were refused together are not to come back together: full jitter. */
function waitBefore(retry: number, error: Error): number {
  const asked = error instanceof ResponseError ? (error.retryAfter ?? 0) * 1000 : 0;
  return asked + Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** retry);
}
