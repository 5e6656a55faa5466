import { ApiError } from './errors';

/** What came of one element: its result, or why it has none. */
export type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: string };

export interface BatchOptions<Item, Result> {
  readonly items: readonly Item[];
  /** Most elements, and most bytes of JSON, in one request. */
  readonly limits: { readonly count: number; readonly bytes: number };
  readonly bytesOf: (item: Item) => number;
  /** One request. @throws ApiError */
  readonly send: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Called in order, without gaps. `start`: index of the first of them. */
  readonly onOutcomes: (start: number, outcomes: readonly Outcome<Result>[]) => void;
  readonly signal: AbortSignal;
}

/**
 * How often a batch may be refused because the service is busy. After each time less of it is sent
 * at once: the queue may have no room for all of it.
 */
const BUSY_TRIES = 20;
const BYTES_AROUND_ELEMENTS = 64;

/**
 * Sends a long list as one short request after the other. An element that the service refuses, or
 * that fails, is named by the answer; it gets its error, and its neighbours are sent again without it.
 *
 * @throws ApiError what concerns all elements; the signal's reason
 */
export async function runInBatches<Item, Result>(
  options: BatchOptions<Item, Result>,
): Promise<void> {
  const { items, limits, bytesOf, onOutcomes, signal } = options;
  for (let start = 0; start < items.length; ) {
    const end = endOfBatch(items, start, { ...limits, bytesOf });
    const outcomes = await runBatch(items.slice(start, end), options);
    signal.throwIfAborted();
    onOutcomes(start, outcomes);
    start = end;
  }
}

/** Index after the last element of the batch that begins at `start`; it has at least one. */
function endOfBatch<Item>(
  items: readonly Item[],
  start: number,
  { count, bytes, bytesOf }: { count: number; bytes: number; bytesOf: (item: Item) => number },
): number {
  let size = BYTES_AROUND_ELEMENTS;
  let end = start;
  while (end < items.length && end - start < Math.max(1, count)) {
    size += bytesOf(items[end] as Item) + 1;
    if (size > bytes && end > start) break;
    end++;
  }
  return end;
}

async function runBatch<Item, Result>(
  items: readonly Item[],
  options: BatchOptions<Item, Result>,
): Promise<Outcome<Result>[]> {
  const outcomes = new Array<Outcome<Result>>(items.length);
  let left = items.map((_item, index) => index);
  for (let tries = 1; left.length > 0; ) {
    options.signal.throwIfAborted();
    const asked = left.slice(0, Math.ceil(left.length / tries));
    try {
      const results = await options.send(asked.map((index) => items[index] as Item));
      if (results.length !== asked.length) {
        throw new ApiError(200, `${results.length} results came for ${asked.length} elements.`);
      }
      for (const [position, index] of asked.entries()) {
        outcomes[index] = { ok: true, result: results[position] as Result };
      }
      left = left.slice(asked.length);
    } catch (error) {
      const position = culprit(error, asked.length);
      if (position !== null) {
        const index = asked[position] as number;
        outcomes[index] = { ok: false, error: (error as ApiError).message };
        left = left.filter((other) => other !== index);
      } else if (error instanceof ApiError && error.status === 503 && tries < BUSY_TRIES) {
        tries++;
        await pause((error.retryAfterSeconds ?? 1) * 1000, options.signal);
      } else {
        throw error;
      }
    }
  }
  return outcomes;
}

/** Position of the element that an error is about, or null when it is about all of them. */
function culprit(error: unknown, count: number): number | null {
  if (!(error instanceof ApiError)) return null;
  if (error.index !== null && error.index < count) return error.index;
  // A body of one element that is too large is that element's fault.
  return error.status === 413 && count === 1 ? 0 : null;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
    signal.addEventListener('abort', done);
  });
}
