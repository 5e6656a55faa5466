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
import type { SignalQualityAnalyzer } from './signal-quality';
import { createSmoothing, type Smoothing } from './smoothing';
import type { StreamOptions } from './stream-messages';

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

  setQuality(
    window: number,
    { problems, peakToPeak, mainsShare }: Readonly<SignalQualityAnalyzer>,
  ): void {
    this.#ring.setQuality(window, problems, peakToPeak, mainsShare);
  }

  setPrediction(window: number, probabilities: Float32Array): void {
    this.#ring.probabilitiesOf(window).set(probabilities);
    this.#setState(window, PREDICTED);
  }

  /** Skips a window that missed its deadline. */
  skip(window: number): void {
    this.#setState(window, SKIPPED_WINDOW);
  }

  markUnusable(window: number): void {
    this.#setState(window, UNUSABLE);
  }

  /** @param message why inference failed */
  fail(window: number, message: string): void {
    this.#errors ??= new Map();
    for (const failed of this.#errors.keys()) {
      if (failed < this.#ring.first) this.#errors.delete(failed);
    }
    this.#errors.set(window, message);
    this.#setState(window, FAILED);
  }

  /** Sets a window's state, then emits the results up to the next pending window. */
  #setState(window: number, state: number): void {
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
