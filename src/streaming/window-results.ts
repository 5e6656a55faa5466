import type { Peer } from '../serving/session';
import {
  FAILED,
  MAX_ROWS,
  PENDING,
  PREDICTED,
  ResultRing,
  type ResultSerializer,
  SKIPPED_WINDOW,
  serializerFor,
  UNUSABLE,
} from './result-ring';
import type { StreamOptions } from './stream-messages';
import type { WindowQuality } from './stream-windows';

/** Counts the windows of streams by outcome. */
export interface WindowCounter {
  /** @param milliseconds from the arrival of the window's last sample to the prediction */
  completed(milliseconds: number): void;
  count(outcome: 'unusable' | 'skipped' | 'failed'): void;
}

/** Results of the windows of one stream, sent in order of the windows. */
export class WindowResults {
  readonly serializer: ResultSerializer;
  readonly #counter: WindowCounter;
  readonly #ring: ResultRing;
  readonly #smoothing: Smoothing | null;
  /** Windows before which smoothing restarts, in order. */
  readonly #restarts: number[] = [];
  /** Error messages of failed windows; null if no window has failed. */
  #errors: Map<number, string> | null = null;
  /** `performance.now()` at the last sample of each window that is not emitted, in order. */
  readonly #arrivals: number[] = [];
  /** Number of the first window that is not emitted. */
  #next: number;
  #skippedSince = 0;
  #skipped = 0;
  #emitted = 0;
  /** Connection that receives the results; null while disconnected. */
  peer: Peer | null;

  constructor(
    options: StreamOptions,
    labels: readonly string[],
    peer: Peer,
    counter: WindowCounter,
  ) {
    const { smoothing, first_window: first } = options;
    this.serializer = serializerFor(labels, options.start.type);
    this.peer = peer;
    this.#counter = counter;
    this.#ring = new ResultRing(first, labels.length, smoothing !== null);
    this.#smoothing = smoothing && createSmoothing(smoothing, labels.length);
    this.#next = first;
  }

  /** Number of the first window without an emitted result. */
  get next(): number {
    return this.#next;
  }

  /** Whether the results of all added windows are emitted. */
  get areComplete(): boolean {
    return this.#next === this.#ring.end;
  }

  get counts(): { readonly windows: number; readonly skipped: number } {
    return { windows: this.#emitted, skipped: this.#skipped + this.#skippedSince };
  }

  /** Number of the first window from which `replayFrom` can start. */
  get firstKept(): number {
    return this.#ring.first;
  }

  get bytes(): number {
    return this.#ring.bytes;
  }

  /** Whether another window can be added: the ring is not full of windows behind a pending window. */
  get hasRoom(): boolean {
    return this.#ring.end - this.#next < MAX_ROWS;
  }

  /** Removes the results up to a window, which the client has received. */
  acknowledge(window: number): void {
    this.#ring.removeBefore(Math.min(window + 1, this.#next));
  }

  /** Sends the emitted results again, from a window on. */
  replayFrom(from: number): void {
    this.#ring.removeBefore(from);
    for (let window = Math.max(from, this.#ring.first); window < this.#next; window++) {
      if (this.#ring.stateOf(window) !== SKIPPED_WINDOW) this.#send(window);
    }
  }

  /** Restarts smoothing with the next window, after a gap. */
  restart(): void {
    const window = this.#ring.end;
    if (this.#smoothing && this.#restarts.at(-1) !== window) this.#restarts.push(window);
  }

  /**
   * Adds a complete window, for which there must be room.
   *
   * @param seconds time of the window
   * @param arrivedAt `performance.now()` at its last sample
   * @returns the window's number
   */
  add(firstSample: number, seconds: number, arrivedAt: number): number {
    this.#ring.add(firstSample, seconds);
    this.#arrivals.push(arrivedAt);
    return this.#ring.end - 1;
  }

  setQuality(window: number, { problems, peakToPeak, mainsShare }: WindowQuality): void {
    this.#ring.setQuality(window, problems, peakToPeak, mainsShare);
  }

  setPrediction(window: number, probabilities: Float32Array): void {
    this.#ring.probabilitiesOf(window).set(probabilities);
    this.setState(window, PREDICTED);
  }

  /** @param message why inference failed */
  fail(window: number, message: string): void {
    this.#errors ??= new Map();
    for (const failed of this.#errors.keys()) {
      if (failed < this.#ring.first) this.#errors.delete(failed);
    }
    this.#errors.set(window, message);
    this.setState(window, FAILED);
  }

  /** Sets the state of a pending window, then emits the results up to the next pending window. */
  setState(window: number, state: number): void {
    this.#ring.setState(window, state);
    while (!this.areComplete) {
      const next = this.#next;
      const nextState = this.#ring.stateOf(next);
      if (nextState === PENDING) return;
      this.#next++;
      const arrivedAt = this.#arrivals.shift() as number;
      while ((this.#restarts[0] ?? Number.POSITIVE_INFINITY) <= next) {
        this.#restarts.shift();
        this.#smoothing?.restart();
      }
      if (nextState === SKIPPED_WINDOW) {
        this.#skippedSince++;
        this.#counter.count('skipped');
      } else this.#emit(next, nextState, arrivedAt);
    }
  }

  #emit(window: number, state: number, arrivedAt: number): void {
    this.#ring.setSkipped(window, this.#skippedSince);
    this.#skipped += this.#skippedSince;
    this.#skippedSince = 0;
    this.#emitted++;
    if (state === PREDICTED) {
      const smoothed = this.#ring.smoothedOf(window);
      if (smoothed) this.#smoothing?.add(this.#ring.probabilitiesOf(window), smoothed);
      this.#counter.completed(performance.now() - arrivedAt);
    } else this.#counter.count(state === UNUSABLE ? 'unusable' : 'failed');
    this.#send(window);
  }

  #send(window: number): void {
    this.peer?.send(this.serializer.serialize(this.#ring, window, this.#errors?.get(window)));
  }
}

/** How probabilities are smoothed over windows. */
export type SmoothingKind =
  /** Median per class over so many windows, including the current window; odd. */
  | { readonly median: number }
  /** Weight of the current window in an exponential moving average, in (0, 1]. */
  | { readonly exponential: number };

export interface Smoothing {
  /** Adds the probabilities of a window and writes the smoothed probabilities to `output`. */
  add(probabilities: Float32Array, output: Float32Array): void;
  /** Discards the windows before a gap. */
  restart(): void;
}

export function createSmoothing(kind: SmoothingKind, classes: number): Smoothing {
  return 'median' in kind
    ? new MedianSmoothing(kind.median, classes)
    : new ExponentialSmoothing(kind.exponential, classes);
}

/** s ← α p + (1 − α) s, starting with the first p. Sums stay 1. */
class ExponentialSmoothing implements Smoothing {
  readonly #alpha: number;
  readonly #state: Float64Array;
  #count = 0;

  constructor(alpha: number, classes: number) {
    this.#alpha = alpha;
    this.#state = new Float64Array(classes);
  }

  add(probabilities: Float32Array, output: Float32Array): void {
    const alpha = this.#count++ === 0 ? 1 : this.#alpha;
    const state = this.#state;
    for (let i = 0; i < state.length; i++) {
      state[i] = alpha * (probabilities[i] as number) + (1 - alpha) * (state[i] as number);
      output[i] = state[i] as number;
    }
  }

  restart(): void {
    this.#count = 0;
  }
}

/** Median per class, divided by the sum over classes to get probabilities. */
class MedianSmoothing implements Smoothing {
  readonly #span: number;
  readonly #classes: number;
  /** Ring of the last `span` probabilities per class. */
  readonly #last: Float32Array;
  readonly #sorted: Float32Array;
  #count = 0;

  constructor(span: number, classes: number) {
    this.#span = span;
    this.#classes = classes;
    this.#last = new Float32Array(span * classes);
    this.#sorted = new Float32Array(span);
  }

  add(probabilities: Float32Array, output: Float32Array): void {
    const slot = this.#count % this.#span;
    this.#count++;
    let sum = 0;
    for (let i = 0; i < this.#classes; i++) {
      this.#last[i * this.#span + slot] = probabilities[i] as number;
      output[i] = this.#median(i);
      sum += output[i] as number;
    }
    for (let i = 0; sum > 0 && i < this.#classes; i++) output[i] = (output[i] as number) / sum;
  }

  restart(): void {
    this.#count = 0;
  }

  /** Median over the windows since the last restart; the mean of the middle two for an even number. */
  #median(index: number): number {
    const count = Math.min(this.#count, this.#span);
    const begin = index * this.#span;
    const sorted = this.#sorted.subarray(0, count);
    sorted.set(this.#last.subarray(begin, begin + count));
    sorted.sort();
    const middle = count >> 1;
    const upper = sorted[middle] as number;
    return count % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
  }
}
