import type { Inference } from '../native/engine';
import type { ResponseHeader } from './header-names';

/** What the inferences of one request took together. Times in ms. */
export interface Timings {
  /** The longest of its elements', as are the other times. */
  readonly queueMs: number;
  readonly tokenizationMs: number;
  /** Of the batch that an element was part of. */
  readonly inferenceMs: number;
  /** Requests that shared a run, at most. */
  readonly batchSize: number;
  /** Of all elements. */
  readonly tokens: number;
  /** Whether a text among them was cut. */
  readonly truncated: boolean;
}

/** One inference stands for itself; of a list, the longest times and all tokens. Null: of none. */
export function timingsOf(inferences: readonly Inference[]): Timings | null {
  const [first, ...others] = inferences;
  if (!first || others.length === 0) return first ?? null;
  const sum = { ...first };
  for (const next of others) {
    sum.queueMs = Math.max(sum.queueMs, next.queueMs);
    sum.tokenizationMs = Math.max(sum.tokenizationMs, next.tokenizationMs);
    sum.inferenceMs = Math.max(sum.inferenceMs, next.inferenceMs);
    sum.batchSize = Math.max(sum.batchSize, next.batchSize);
    sum.tokens += next.tokens;
    sum.truncated ||= next.truncated;
  }
  return sum;
}

/** To the microsecond. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Where the time went, in ms: headers of an answer over HTTP, trailers over gRPC. */
export function setTimingHeaders(
  timings: Timings,
  set: (name: ResponseHeader, value: number | string) => void,
): void {
  set('X-Queue-Time', roundMs(timings.queueMs));
  set('X-Tokenization-Time', roundMs(timings.tokenizationMs));
  set('X-Inference-Time', roundMs(timings.inferenceMs));
  set('X-Compute-Tokens', timings.tokens);
  if (timings.truncated) set('X-Input-Truncated', 'true');
}
