import { argmax, roundToFourDecimals } from '../lib/numbers';
import { problemsOf } from '../tasks/signal-classification/signal-quality';
import { formatTime, type SamplePosition } from './timeline';

/** Initial and maximum number of rows. Rows of pending windows are never reused. */
const INITIAL_ROWS = 16;
export const MAX_ROWS = 256;

/** Columns of a row before the probabilities. */
const [STATE, SKIPPED, PROBLEMS, PEAK_TO_PEAK, MAINS_SHARE, PROBABILITIES] = [0, 1, 2, 3, 4, 5];

/** States of a window. */
export const PENDING = 0;
export const PREDICTED = 1;
/** Excluded from inference by a quality problem. */
export const UNUSABLE = 2;
export const SKIPPED_WINDOW = 3;
export const FAILED = 4;

const NO_POSITIONS = new Float64Array(0);
const NO_NUMBERS = new Float32Array(0);

/**
 * Results of the last windows of a stream as numbers: pending windows, and results that a client may need again after
 * a reconnect. A row takes about 60 bytes. The memory is allocated with the first window.
 */
export class ResultRing {
  readonly #classes: number;
  readonly #width: number;
  readonly #hasSmoothed: boolean;
  #rows = 0;
  /** First sample and time in seconds of each row. */
  #positions = NO_POSITIONS;
  #numbers = NO_NUMBERS;
  /** Number of the first window in the ring. */
  first: number;
  /** Number of the next window. */
  end: number;

  /** Allocated rows. */
  get capacity(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#positions.byteLength + this.#numbers.byteLength;
  }

  /** @param hasSmoothed whether rows also have smoothed probabilities */
  constructor(firstWindow: number, classes: number, hasSmoothed: boolean) {
    this.#classes = classes;
    this.#hasSmoothed = hasSmoothed;
    this.#width = PROBABILITIES + classes * (hasSmoothed ? 2 : 1);
    this.first = firstWindow;
    this.end = firstWindow;
  }

  /**
   * Adds a row for the next window, in the state `PENDING`. A full ring reuses the row of the oldest window.
   *
   * @throws Error: the oldest window is pending, which the caller has to prevent
   */
  add(firstSample: number, seconds: number): void {
    if (this.end - this.first === this.#rows) {
      if (this.#rows < MAX_ROWS) this.#grow();
      else if (this.stateOf(this.first) === PENDING) {
        throw new Error(`Window ${this.first} is pending: its row cannot be reused.`);
      } else this.first++;
    }
    this.end++;
    const at = this.#rowAt(this.end - 1);
    this.#positions[at * 2] = firstSample;
    this.#positions[at * 2 + 1] = seconds;
    this.#numbers.fill(0, at * this.#width, (at + 1) * this.#width);
  }

  /** Removes the rows before a window. */
  removeBefore(window: number): void {
    this.first = Math.max(this.first, Math.min(window, this.end));
  }

  stateOf(window: number): number {
    return this.#numbers[this.#begin(window) + STATE] as number;
  }

  /** Sets the final state of a pending window. */
  setState(window: number, state: number): void {
    if (this.stateOf(window) !== PENDING) throw new Error(`Window ${window} has a result already.`);
    this.#numbers[this.#begin(window) + STATE] = state;
  }

  /** Sets the number of skipped windows directly before a window. */
  setSkipped(window: number, count: number): void {
    this.#numbers[this.#begin(window) + SKIPPED] = count;
  }

  setQuality(window: number, problems: number, peakToPeak: number, mainsShare: number): void {
    const begin = this.#begin(window);
    this.#numbers[begin + PROBLEMS] = problems;
    this.#numbers[begin + PEAK_TO_PEAK] = peakToPeak;
    this.#numbers[begin + MAINS_SHARE] = mainsShare;
  }

  /** View of the model's probabilities. */
  probabilitiesOf(window: number): Float32Array {
    const begin = this.#begin(window) + PROBABILITIES;
    return this.#numbers.subarray(begin, begin + this.#classes);
  }

  /** View of the smoothed probabilities; null without smoothing. */
  smoothedOf(window: number): Float32Array | null {
    if (!this.#hasSmoothed) return null;
    const begin = this.#begin(window) + PROBABILITIES + this.#classes;
    return this.#numbers.subarray(begin, begin + this.#classes);
  }

  rowOf(window: number) {
    const begin = this.#begin(window);
    const at = this.#rowAt(window) * 2;
    const numbers = this.#numbers;
    return {
      state: numbers[begin + STATE] as number,
      firstSample: this.#positions[at] as number,
      seconds: this.#positions[at + 1] as number,
      skipped: numbers[begin + SKIPPED] as number,
      problems: numbers[begin + PROBLEMS] as number,
      peakToPeak: numbers[begin + PEAK_TO_PEAK] as number,
      mainsShare: numbers[begin + MAINS_SHARE] as number,
    };
  }

  #rowAt(window: number): number {
    if (window < this.first || window >= this.end) {
      throw new Error(`Window ${window} is not in the ring of ${this.first} to ${this.end - 1}.`);
    }
    return window % this.#rows;
  }

  #begin(window: number): number {
    return this.#rowAt(window) * this.#width;
  }

  #grow(): void {
    const [rows, positions, numbers] = [this.#rows, this.#positions, this.#numbers];
    const width = this.#width;
    this.#rows = Math.max(INITIAL_ROWS, rows * 2);
    this.#positions = new Float64Array(this.#rows * 2);
    this.#numbers = new Float32Array(this.#rows * width);
    for (let window = this.first; window < this.end; window++) {
      const [from, to] = [window % rows, window % this.#rows];
      this.#positions.set(positions.subarray(from * 2, from * 2 + 2), to * 2);
      this.#numbers.set(numbers.subarray(from * width, (from + 1) * width), to * width);
    }
  }
}

const NO_PREDICTION = '"diagnosis":null,"confidence":null,"probabilities":null';
/** Significant digits of amplitudes: the precision of float32. */
const AMPLITUDE_DIGITS = 7;

/** Serializes rows as JSON (`windowResult`): thousands of rows per second for thousands of streams. */
export class ResultSerializer {
  /** Labels as JSON strings. */
  readonly #labels: readonly string[];
  readonly #timeType: SamplePosition['type'];

  constructor(labels: readonly string[], timeType: SamplePosition['type']) {
    this.#labels = labels.map((label) => JSON.stringify(label));
    this.#timeType = timeType;
  }

  /** @param error message of a failed inference */
  serialize(ring: ResultRing, window: number, error: string | undefined): string {
    const row = ring.rowOf(window);
    const isPredicted = row.state === PREDICTED;
    const smoothed = isPredicted ? ring.smoothedOf(window) : null;
    const problems = row.problems === 0 ? '[]' : JSON.stringify(problemsOf(row.problems));
    return (
      `{"window":${window},"first_sample":${row.firstSample},"time":${this.formatTime(row.seconds)},` +
      (isPredicted ? this.#prediction(ring.probabilitiesOf(window)) : NO_PREDICTION) +
      `,"quality":{"problems":${problems},"peak_to_peak":${amplitude(row.peakToPeak)},` +
      `"mains_share":${share(row.mainsShare)}}` +
      (row.skipped > 0 ? `,"skipped":${row.skipped}` : '') +
      (smoothed === null ? '' : `,"smoothed":{${this.#prediction(smoothed)}}`) +
      (error === undefined ? '}' : `,"error":${JSON.stringify(error)}}`)
    );
  }

  /** Time as JSON. */
  formatTime(seconds: number): string {
    const time = formatTime(this.#timeType, seconds);
    return typeof time === 'string' ? `"${time}"` : String(time);
  }

  #prediction(probabilities: Float32Array): string {
    const top = argmax(probabilities);
    let all = '';
    for (let i = 0; i < probabilities.length; i++) {
      all += `${i > 0 ? ',' : ''}${this.#labels[i]}:${roundToFourDecimals(probabilities[i] as number)}`;
    }
    const confidence = roundToFourDecimals(probabilities[top] as number);
    return `"diagnosis":${this.#labels[top]},"confidence":${confidence},"probabilities":{${all}}`;
  }
}

const serializers = new WeakMap<readonly string[], Map<string, ResultSerializer>>();

/** The serializer that all streams with the same model and position type share. */
export function serializerFor(
  labels: readonly string[],
  timeType: SamplePosition['type'],
): ResultSerializer {
  const byType = serializers.get(labels) ?? new Map<string, ResultSerializer>();
  serializers.set(labels, byType);
  const serializer = byType.get(timeType) ?? new ResultSerializer(labels, timeType);
  byType.set(timeType, serializer);
  return serializer;
}

function amplitude(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(AMPLITUDE_DIGITS))) : 'null';
}

function share(value: number): string {
  return Number.isNaN(value) ? 'null' : String(roundToFourDecimals(value));
}
