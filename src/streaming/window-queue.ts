import { EngineError, type Inference } from '../native/engine';
import { errorOf } from '../native/engine-error';
import type { Classification, InferenceCallbacks, SignalClassifier } from '../tasks/abilities';

/** So many windows are handed over at once: as many as a batch has at most by default. */
const AT_ONCE = 32;
/** How often windows are handed over at most, in ms: where thousands come a second, a few of them together. */
const GATHER_MS = 2;
/** How long what the queue of the model has no room for waits before it is tried again, in ms. */
const RETRY_MS = 5;
/** How much earlier than its deadline a window may be given up because of those that it is handed over with. */
const NEAR_MS = 2;
const NEAR_SHARE = 0.05;
/** That a window could not come in time, in whatever words. */
const LATE = new Set(['DEADLINE_EXCEEDED', 'DEADLINE_TOO_CLOSE', 'CANCELLED']);

/** Told what has become of a window. */
export interface WindowOwner {
  answered(window: number, answer: Classification): void;
  /** It could not come in time. */
  late(window: number): void;
  failed(window: number, error: EngineError): void;
  /** An unexpected error, of this owner alone. Does not throw. */
  crashed(error: unknown): void;
}

type NativeInput = ReturnType<SignalClassifier['prepare']>;

/** A window on its way through the model. */
class Ask implements InferenceCallbacks {
  readonly #model: SignalClassifier;
  readonly #owner: WindowOwner;
  readonly #window: number;
  readonly input: NativeInput;
  /** `performance.now()` when the model has to have begun. */
  readonly until: number;

  constructor(
    model: SignalClassifier,
    owner: WindowOwner,
    { window, samples, until }: { window: number; samples: Float64Array; until: number },
  ) {
    // It is read by index alone.
    this.input = model.prepare(samples as unknown as readonly number[]);
    this.#model = model;
    this.#owner = owner;
    this.#window = window;
    this.until = until;
  }

  resolve(inference: Inference): void {
    let answer: Classification;
    try {
      answer = this.#model.answer(inference, NO_SIGNAL);
    } catch (error) {
      this.reject(error);
      return;
    }
    this.#owner.answered(this.#window, answer);
  }

  /** @param error of the engine, or an unexpected one */
  reject(error: unknown): void {
    if (!(error instanceof EngineError)) this.#owner.crashed(error);
    else if (LATE.has(error.code)) this.#owner.late(this.#window);
    else this.#owner.failed(this.#window, error);
  }
}

/** What is answered does not depend on it. */
const NO_SIGNAL: readonly number[] = [];

/**
 * The windows of all streams of an event loop that ask one model. Those that become complete in one turn of the
 * event loop are handed over together, which wakes the model's threads once; those for which its queue has no room
 * wait here in their order. Each stream has a few at most.
 */
export class WindowQueue {
  readonly #model: SignalClassifier;
  #waiting: Ask[] = [];
  #isScheduled = false;
  #flushedAt = 0;

  constructor(model: SignalClassifier) {
    this.#model = model;
  }

  /** @param until `performance.now()` when the model has to have begun */
  ask(owner: WindowOwner, window: number, samples: Float64Array, until: number): void {
    this.#waiting.push(new Ask(this.#model, owner, { window, samples, until }));
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const wait = this.#flushedAt + GATHER_MS - performance.now();
    if (wait <= 0) setImmediate(this.#flush);
    else setTimeout(this.#flush, wait);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    const now = performance.now();
    this.#flushedAt = now;
    const left: Ask[] = [];
    for (const ask of waiting.sort((a, b) => a.until - b.until)) {
      if (ask.until > now) left.push(ask);
      else ask.reject(errorOf('DEADLINE_EXCEEDED'));
    }
    let at = 0;
    let most = AT_ONCE;
    while (at < left.length) {
      const size = together(left, { at, most, now });
      if (this.#submit(left.slice(at, at + size), now)) at += size;
      else if (size > 1)
        most = 1; // the queue may be smaller than a batch
      else break;
    }
    // Answers of those that came too late may have brought new ones.
    this.#waiting = [...left.slice(at), ...this.#waiting];
    this.#isScheduled = this.#waiting.length > 0;
    if (this.#isScheduled) setTimeout(this.#flush, RETRY_MS);
  };

  /** False: there is no room for them now. Otherwise their owners are told, sooner or later. Does not throw. */
  #submit(asks: readonly Ask[], now: number): boolean {
    const inputs = asks.map(({ input }) => input);
    try {
      this.#model.runEach(inputs, (asks[0] as Ask).until - now, asks);
      return true;
    } catch (error) {
      const code = error instanceof EngineError ? error.code : null;
      if (code === 'QUEUE_FULL' || code === 'WAIT_TOO_LONG') return false;
      if (code === 'DEADLINE_TOO_CLOSE' && asks.length > 1) return false;
      for (const ask of asks) ask.reject(error);
      return true;
    }
  }
}

/** How many from `at` on have about the same deadline: the queue knows one for a list, that of the first. */
function together(
  asks: readonly Ask[],
  { at, most, now }: { readonly at: number; readonly most: number; readonly now: number },
): number {
  const { until } = asks[at] as Ask;
  const latest = until + Math.max(NEAR_MS, (until - now) * NEAR_SHARE);
  let size = 1;
  while (size < most && (asks[at + size]?.until ?? Number.POSITIVE_INFINITY) <= latest) size++;
  return size;
}
