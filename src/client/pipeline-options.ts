import type { CallOptions } from './retry';
import type { AnySource } from './source-reader';

export const RETRIES = 20;

/** Of requests; what rejects a call, rejects the iterator. `retries`: 20 by default. */
export interface AllOptions extends CallOptions {
  /** Requests under way at once. Two for each replica keep it busy. Default: 4. */
  readonly concurrency?: number;
  /** Elements of a request, at most; the limits of the service hold as well. Default: 32. */
  readonly batchSize?: number;
  /**
   * Elements that are taken from the source before their outcomes have been consumed, at most: what
   * bounds the memory. Default: 4 × concurrency × batchSize.
   */
  readonly lookAhead?: number;
  /** False: outcomes come as soon as they are there. Default: true, in the order of the source. */
  readonly ordered?: boolean;
}

export type AllSource<Element> = AnySource<Element>;

/** With the defaults. */
export type AllSettings = AllOptions &
  Required<Pick<AllOptions, 'concurrency' | 'batchSize' | 'lookAhead' | 'ordered' | 'retries'>>;

/** @throws RangeError: an option is none */
export function withDefaults(options: AllOptions): AllSettings {
  const { concurrency = 4, batchSize = 32, ordered = true, retries = RETRIES } = options;
  const { lookAhead = 4 * concurrency * batchSize } = options;
  for (const [name, value] of Object.entries({ concurrency, batchSize, lookAhead })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`${name}: expected a whole number, at least 1, received ${value}`);
  }
  return { ...options, concurrency, batchSize, lookAhead, ordered, retries };
}
