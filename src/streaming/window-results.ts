import type { Peer } from '../serving/session';
import type { Opening } from './messages';
import {
  FAILED,
  MOST_ROWS,
  PENDING,
  PREDICTED,
  ResultRing,
  SKIPPED_WINDOW,
  UNUSABLE,
} from './result-ring';
import { type ResultSerializer, writerOf } from './result-serializer';
import type { SignalQualityAnalyzer } from './signal-quality';
import { type Smoothing, smoothingOf } from './smoothing';

/** Told what becomes of windows. */
export interface WindowCounter {
  answered(milliseconds: number): void;
  unusable(): void;
  skipped(): void;
  failed(): void;
}

/** What becomes of the windows of a stream, told in their order as soon as it is known. */
export class WindowResults {
  readonly writer: ResultSerializer;
  readonly #counter: WindowCounter;
  readonly #ring: ResultRing;
  readonly #smoothing: Smoothing | null;
  /** Windows with which smoothing begins anew. */
  readonly #restarts: number[] = [];
  /** Null: the model has failed on no window. */
  #errors: Map<number, string> | null = null;
  /** `performance.now()` when the last sample came of windows that are not told yet, in their order. */
  readonly #arrivals: number[] = [];
  /** The first window that has not been told. */
  #next: number;
  #skippedSince = 0;
  #skipped = 0;
  #answered = 0;
  /** Null: nobody is told for now. */
  peer: Peer | null;

  constructor(opening: Opening, labels: readonly string[], peer: Peer, counter: WindowCounter) {
    const { smoothing, first_window: first } = opening;
    this.writer = writerOf(labels, opening.start.type);
    this.peer = peer;
    this.#counter = counter;
    this.#ring = new ResultRing(first, labels.length, smoothing !== null);
    this.#smoothing = smoothing && smoothingOf(smoothing, labels.length);
    this.#next = first;
  }

  get next(): number {
    return this.#next;
  }

  /** All windows that there are have been told. */
  get areTold(): boolean {
    return this.#next === this.#ring.end;
  }

  get counts(): { readonly windows: number; readonly skipped: number } {
    return { windows: this.#answered, skipped: this.#skipped + this.#skippedSince };
  }

  /** The first window that can be told again. */
  get firstKept(): number {
    return this.#ring.first;
  }

  /** Up to this window they have come to the client. */
  received(window: number): void {
    this.#ring.forgetBefore(Math.min(window + 1, this.#next));
  }

  /** Those from this window on. */
  tellAgain(from: number): void {
    this.#ring.forgetBefore(from);
    for (let window = Math.max(from, this.#ring.first); window < this.#next; window++) {
      if (this.#ring.stateOf(window) !== SKIPPED_WINDOW) this.#tell(window);
    }
  }

  /** Windows from here on do not follow on those before. */
  restart(): void {
    const window = this.#ring.end;
    if (this.#smoothing && this.#restarts.at(-1) !== window) this.#restarts.push(window);
  }

  /** Bytes that they take. */
  get bytes(): number {
    return this.#ring.bytes;
  }

  /** Whether another window may be added: not while so many wait for the result of one before them. */
  get hasRoom(): boolean {
    return this.#ring.end - this.#next < MOST_ROWS;
  }

  /** A window is complete, and there is room for it. @param arrivedAt its last sample @returns its number */
  add(firstSample: number, seconds: number, arrivedAt: number): number {
    this.#ring.add(firstSample, seconds);
    this.#arrivals.push(arrivedAt);
    return this.#ring.end - 1;
  }

  setQuality(window: number, { problems, peakToPeak, mainsShare }: SignalQualityAnalyzer): void {
    this.#ring.setQuality(window, problems, peakToPeak, mainsShare);
  }

  answer(window: number, probabilities: Float32Array): void {
    this.#ring.probabilitiesOf(window).set(probabilities);
    this.#settle(window, PREDICTED);
  }

  /** It could not come in time. */
  skip(window: number): void {
    this.#settle(window, SKIPPED_WINDOW);
  }

  /** It is not to be asked about. */
  leaveOut(window: number): void {
    this.#settle(window, UNUSABLE);
  }

  /** @param message why the model gave no answer */
  fail(window: number, message: string): void {
    this.#errors ??= new Map();
    for (const known of this.#errors.keys()) {
      if (known < this.#ring.first) this.#errors.delete(known);
    }
    this.#errors.set(window, message);
    this.#settle(window, FAILED);
  }

  #settle(window: number, state: number): void {
    this.#ring.setState(window, state);
    while (this.#next < this.#ring.end) {
      const next = this.#next;
      const is = this.#ring.stateOf(next);
      if (is === PENDING) return;
      this.#next++;
      const arrivedAt = this.#arrivals.shift() as number;
      this.#restartAt(next);
      if (is === SKIPPED_WINDOW) {
        this.#skippedSince++;
        this.#counter.skipped();
      } else this.#conclude(next, is, arrivedAt);
    }
  }

  #conclude(window: number, state: number, arrivedAt: number): void {
    this.#ring.setSkipped(window, this.#skippedSince);
    this.#skipped += this.#skippedSince;
    this.#skippedSince = 0;
    this.#answered++;
    if (state === PREDICTED) {
      this.#smooth(window);
      this.#counter.answered(performance.now() - arrivedAt);
    } else if (state === UNUSABLE) this.#counter.unusable();
    else this.#counter.failed();
    this.#tell(window);
  }

  /** Whatever becomes of the window: those that are not smoothed would pile up. */
  #restartAt(window: number): void {
    while ((this.#restarts[0] ?? Number.POSITIVE_INFINITY) <= window) {
      this.#restarts.shift();
      this.#smoothing?.restart();
    }
  }

  #smooth(window: number): void {
    if (!this.#smoothing) return;
    const output = this.#ring.smoothedOf(window) as Float32Array;
    this.#smoothing.add(this.#ring.probabilitiesOf(window), output);
  }

  #tell(window: number): void {
    this.peer?.send(this.writer.write(this.#ring, window, this.#errors?.get(window)));
  }
}
