import { EngineError } from '../native/engine';
import { errorOf } from '../native/engine-error';
import type { Classification, InferenceCallbacks, SignalClassifier } from '../tasks/capabilities';
import type { SignalInput } from '../tasks/signal-classification/window-preparation';

/** Maximum number of windows in one call of the engine: the default maximum batch size. */
const MAX_WINDOWS = 32;
/** Minimum interval between calls of the engine, in ms: at thousands of windows per second a call takes several. */
const GATHER_MS = 2;
/** Delay before windows are sent again after the queue of the model was full, in ms. */
const RETRY_MS = 5;
/** Maximum difference of deadlines in one call, in ms and as a share of the remaining time: a call has one deadline. */
const NEAR_MS = 2;
const NEAR_SHARE = 0.05;
/** The prediction does not depend on the signal. */
const NO_SIGNAL: readonly number[] = [];

/** Receives the result of a window, by one call. Neither method throws. */
export interface WindowOwner {
  onPrediction(window: number, prediction: Classification): void;
  /** @param error an EngineError, or an unexpected error */
  onFailure(window: number, error: unknown): void;
}

interface QueuedWindow extends InferenceCallbacks {
  readonly input: ReturnType<SignalClassifier['prepare']>;
  /** Deadline for the start of inference, as `performance.now()`. */
  readonly until: number;
}

/**
 * Windows of all streams of one model. Windows that are completed within one iteration of the event loop are sent to
 * the engine in one call, which wakes its threads once. Windows wait here in order while the engine's queue is full;
 * each stream has few.
 */
export class WindowQueue {
  readonly #model: SignalClassifier;
  #waiting: QueuedWindow[] = [];
  #isScheduled = false;
  #flushedAt = 0;

  constructor(model: SignalClassifier) {
    this.#model = model;
  }

  /** @param until deadline for the start of inference, as `performance.now()` */
  push(owner: WindowOwner, window: number, signal: SignalInput, until: number): void {
    const model = this.#model;
    this.#waiting.push({
      input: model.prepare(signal),
      until,
      resolve: (inference) => {
        let prediction: Classification;
        try {
          prediction = model.toPrediction(inference, NO_SIGNAL);
        } catch (error) {
          owner.onFailure(window, error);
          return;
        }
        owner.onPrediction(window, prediction);
      },
      reject: (error) => owner.onFailure(window, error),
    });
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const delay = this.#flushedAt + GATHER_MS - performance.now();
    if (delay <= 0) setImmediate(this.#flush);
    else setTimeout(this.#flush, delay);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    const now = performance.now();
    this.#flushedAt = now;
    const left: QueuedWindow[] = [];
    for (const window of waiting.sort((a, b) => a.until - b.until)) {
      if (window.until > now) left.push(window);
      else window.reject(errorOf('DEADLINE_EXCEEDED'));
    }
    let at = 0;
    let max = MAX_WINDOWS;
    while (at < left.length) {
      const size = batchSize(left, { at, max, now });
      if (this.#submit(left.slice(at, at + size), now)) at += size;
      else if (size > 1)
        max = 1; // The queue can be smaller than a batch.
      else break;
    }
    // The rejected windows' owners can have pushed new windows.
    this.#waiting = [...left.slice(at), ...this.#waiting];
    this.#isScheduled = this.#waiting.length > 0;
    if (this.#isScheduled) setTimeout(this.#flush, RETRY_MS);
  };

  /** @returns false if the engine's queue is full. Otherwise the owners receive the results. Does not throw. */
  #submit(windows: readonly QueuedWindow[], now: number): boolean {
    const inputs = windows.map(({ input }) => input);
    try {
      this.#model.runEach(inputs, (windows[0] as QueuedWindow).until - now, windows);
      return true;
    } catch (error) {
      const code = error instanceof EngineError ? error.code : null;
      if (code === 'QUEUE_FULL' || code === 'WAIT_TOO_LONG') return false;
      if (code === 'DEADLINE_TOO_CLOSE' && windows.length > 1) return false;
      for (const window of windows) window.reject(error as EngineError);
      return true;
    }
  }
}

/** Number of windows from `at` on with similar deadlines; a call of the engine has the deadline of the first window. */
function batchSize(
  windows: readonly QueuedWindow[],
  { at, max, now }: { readonly at: number; readonly max: number; readonly now: number },
): number {
  const { until } = windows[at] as QueuedWindow;
  const latest = until + Math.max(NEAR_MS, (until - now) * NEAR_SHARE);
  let size = 1;
  while (size < max && (windows[at + size]?.until ?? Number.POSITIVE_INFINITY) <= latest) size++;
  return size;
}
