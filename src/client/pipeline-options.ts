import type { CallOptions } from './retry';
import type { AnySource } from './source-reader';

export const RETRIES = 20;

/** Options of `analyzeAll` and `predictAll`. Each request uses the call options; `retries` defaults to 20. */
export interface AllOptions extends CallOptions {
  /** Maximum number of concurrent requests. Two per replica keep it busy. Default: 4. */
  readonly concurrency?: number;
  /** Maximum number of elements per request, also bounded by the limits of the server. Default: 32. */
  readonly batchSize?: number;
  /**
   * Maximum number of elements that are read from the source before their outcomes are consumed; bounds the memory.
   * Default: 4 × concurrency × batchSize.
   */
  readonly lookAhead?: number;
  /** Yields outcomes in the order of the source. If false, in the order of the responses. Default: true. */
  readonly ordered?: boolean;
}

export type AllSource<Element> = AnySource<Element>;

/** Options with all defaults. */
export type AllSettings = AllOptions &
  Required<Pick<AllOptions, 'concurrency' | 'batchSize' | 'lookAhead' | 'ordered' | 'retries'>>;

/** @throws RangeError if an option is not a positive integer */
export function withDefaults(options: AllOptions): AllSettings {
  const { concurrency = 4, batchSize = 32, ordered = true, retries = RETRIES } = options;
  const { lookAhead = 4 * concurrency * batchSize } = options;
  for (const [name, value] of Object.entries({ concurrency, batchSize, lookAhead })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`${name}: expected a whole number, at least 1, received ${value}`);
  }
  return { ...options, concurrency, batchSize, lookAhead, ordered, retries };
}
