import { sleep } from './abort-signals';
import { ResponseError, StreamError } from './client-errors';

export interface RetryOptions {
  /**
   * Maximum number of retries after a rejection (429, 503), a lost request (no connection, 408, 502) or a timeout
   * (504, `timeoutMs`; at most two retries, because each takes the whole timeout). The delay is `Retry-After` plus a
   * random part of 250 ms, 500 ms, 1 s … 30 s. Requests are idempotent. Default: 0; 20 for `analyzeAll`,
   * `predictAll` and `stream`.
   */
  readonly retries?: number;
  /** Maximum time from the first attempt to the start of the last retry, in ms. Default: 300,000. */
  readonly retryForMs?: number;
  /** Called before each delay. */
  readonly onRetry?: (error: Error, waitMs: number) => void;
}

export interface CallOptions extends RetryOptions {
  /** Cancels the call, which rejects with the reason of the signal, and the request on the server. */
  readonly signal?: AbortSignal;
  /** Timeout of each attempt in ms, after which it fails with a DOMException named TimeoutError. */
  readonly timeoutMs?: number;
}

const RETRY_FOR_MS = 300_000;
const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
const MAX_TIMEOUTS = 2;
const TEMPORARY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** WebSocket close codes worth a retry: shutdown, broken connection, overload, slow reader, and codes of proxies. */
const TEMPORARY_CLOSES: ReadonlySet<number> = new Set([
  ...[1001, 1005, 1006, 1011, 1012, 1013, 1014, 4408],
]);

/** Repeats an attempt that fails with a temporary error. @throws the last error, or the reason of the signal */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  options: CallOptions,
): Promise<Result> {
  const { retries = 0, retryForMs = RETRY_FOR_MS, onRetry, signal } = options;
  const startedAt = performance.now();
  let timeouts = 0;
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || retry >= retries || !isTemporary(error)) throw error;
      if (isTimeout(error) && ++timeouts > MAX_TIMEOUTS) throw error;
      const waitMs = delayBefore(retry, error);
      if (performance.now() - startedAt + waitMs > retryForMs) throw error;
      onRetry?.(error, waitMs);
      await sleep(waitMs, signal);
    }
  }
}

/** Returns whether the timeout of the server (504) or of the client expired. */
export function isTimeout(error: unknown): error is Error {
  return error instanceof ResponseError ? error.status === 504 : nameOf(error) === 'TimeoutError';
}

/** Returns whether a retry may succeed. */
export function isTemporary(error: unknown): error is Error {
  if (error instanceof ResponseError) return TEMPORARY.has(error.status);
  if (error instanceof StreamError) return TEMPORARY_CLOSES.has(error.code);
  if (isTimeout(error)) return true;
  // `fetch` throws a TypeError for network errors, but also for an invalid URL.
  return nameOf(error) === 'TypeError' && codeOf(error) !== 'ERR_INVALID_URL';
}

/** Name of an error. `instanceof` fails for errors of another realm, such as those of a custom `fetch`. */
function nameOf(error: unknown): unknown {
  return (error as { readonly name?: unknown } | null)?.name;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly cause?: { readonly code?: unknown } }).cause?.code;
}

/** Delay in ms: `Retry-After` plus exponential backoff with full jitter, so that clients do not retry in lockstep. */
function delayBefore(retry: number, error: Error): number {
  const requested = error instanceof ResponseError ? (error.retryAfter ?? 0) * 1000 : 0;
  return requested + Math.random() * Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** retry);
}
