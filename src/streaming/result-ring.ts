/** Rows of the ring at first, and at most. Rows of windows without a result are never reused. */
const FIRST_ROWS = 16;
export const MOST_ROWS = 256;

/** Numbers of a row beside the probabilities, in their order. */
const [STATE, SKIPPED, PROBLEMS, PEAK_TO_PEAK, MAINS_SHARE, PROBABILITIES] = [0, 1, 2, 3, 4, 5];

/** What has become of a window. */
export const PENDING = 0;
export const PREDICTED = 1;
/** It was not asked about. */
export const UNUSABLE = 2;
export const SKIPPED_WINDOW = 3;
export const FAILED = 4;

export interface Row {
  /** See above. */
  state: number;
  firstSample: number;
  seconds: number;
  /** Windows before it, since the last one that was answered, that are not. */
  skipped: number;
  /** See `Judge`. */
  problems: number;
  peakToPeak: number;
  mainsShare: number;
}

/** Before the first window: a silent stream is to take little. */
const NO_PLACES = new Float64Array(0);
const NO_NUMBERS = new Float32Array(0);

/**
 * The answers of a stream to its last windows, in numbers: those that are not complete, and those that have been
 * sent and may not have come. A row takes some 60 bytes.
 */
export class ResultRing {
  readonly #classes: number;
  readonly #width: number;
  readonly #smooths: boolean;
  #rows = 0;
  #places = NO_PLACES;
  #numbers = NO_NUMBERS;
  /** The first window that is kept, and the one that comes next. */
  first: number;
  end: number;

  /** Windows for which there is memory. */
  get capacity(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#places.byteLength + this.#numbers.byteLength;
  }

  /** @param smooths whether there are smoothed probabilities beside the others */
  constructor(firstWindow: number, classes: number, smooths: boolean) {
    this.#classes = classes;
    this.#smooths = smooths;
    this.#width = PROBABILITIES + classes * (smooths ? 2 : 1);
    this.first = firstWindow;
    this.end = firstWindow;
  }

  /**
   * Makes the row of the next window, `PENDING`; if all are in use, it takes that of the oldest window, which must
   * have its result: the caller waits for it.
   */
  add(firstSample: number, seconds: number): void {
    if (this.end - this.first === this.#rows) {
      if (this.#rows < MOST_ROWS) this.#grow();
      else if (this.stateOf(this.first) === PENDING) {
        throw new Error(`Window ${this.first} has no result yet: its row is in use.`);
      } else this.first++;
    }
    this.end++;
    const at = this.#at(this.end - 1);
    this.#places[at * 2] = firstSample;
    this.#places[at * 2 + 1] = seconds;
    this.#numbers.fill(0, at * this.#width, (at + 1) * this.#width);
  }

  /** Those before this window are not needed any more. */
  forgetBefore(window: number): void {
    this.first = Math.max(this.first, Math.min(window, this.end));
  }

  stateOf(window: number): number {
    return this.#numbers[this.#begin(window) + STATE] as number;
  }

  /** @param state its result: a window has one, once */
  setState(window: number, state: number): void {
    if (this.stateOf(window) !== PENDING) throw new Error(`Window ${window} has a result already.`);
    this.#numbers[this.#begin(window) + STATE] = state;
  }

  setSkipped(window: number, count: number): void {
    this.#numbers[this.#begin(window) + SKIPPED] = count;
  }

  setQuality(window: number, problems: number, peakToPeak: number, mainsShare: number): void {
    const begin = this.#begin(window);
    this.#numbers[begin + PROBLEMS] = problems;
    this.#numbers[begin + PEAK_TO_PEAK] = peakToPeak;
    this.#numbers[begin + MAINS_SHARE] = mainsShare;
  }

  /** As the model gave them. */
  probabilitiesOf(window: number): Float32Array {
    const begin = this.#begin(window) + PROBABILITIES;
    return this.#numbers.subarray(begin, begin + this.#classes);
  }

  /** Null: nothing is smoothed. */
  smoothedOf(window: number): Float32Array | null {
    if (!this.#smooths) return null;
    const begin = this.#begin(window) + PROBABILITIES + this.#classes;
    return this.#numbers.subarray(begin, begin + this.#classes);
  }

  rowOf(window: number): Row {
    const begin = this.#begin(window);
    const place = this.#at(window) * 2;
    const numbers = this.#numbers;
    return {
      state: numbers[begin + STATE] as number,
      firstSample: this.#places[place] as number,
      seconds: this.#places[place + 1] as number,
      skipped: numbers[begin + SKIPPED] as number,
      problems: numbers[begin + PROBLEMS] as number,
      peakToPeak: numbers[begin + PEAK_TO_PEAK] as number,
      mainsShare: numbers[begin + MAINS_SHARE] as number,
    };
  }

  /** The row of this window, and of no other one. */
  #at(window: number): number {
    if (window < this.first || window >= this.end) {
      throw new Error(`Window ${window} is not among ${this.first} to ${this.end - 1}.`);
    }
    return window % this.#rows;
  }

  #begin(window: number): number {
    return this.#at(window) * this.#width;
  }

  #grow(): void {
    const [rows, places, numbers] = [this.#rows, this.#places, this.#numbers];
    const width = this.#width;
    this.#rows = Math.max(FIRST_ROWS, rows * 2);
    this.#places = new Float64Array(this.#rows * 2);
    this.#numbers = new Float32Array(this.#rows * width);
    for (let window = this.first; window < this.end; window++) {
      const [from, to] = [window % rows, window % this.#rows];
      this.#places.set(places.subarray(from * 2, from * 2 + 2), to * 2);
      this.#numbers.set(numbers.subarray(from * width, (from + 1) * width), to * width);
    }
  }
}
