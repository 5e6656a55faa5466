const EMPTY = new Float64Array(0);

/** The last samples of a signal, in a buffer of fixed capacity that is allocated with the first sample. */
export class SampleBuffer {
  values: Float64Array = EMPTY;
  readonly #capacity: number;
  /** Number of the sample `values[0]`. */
  first = 0;
  /** Number of the next sample. */
  end = 0;

  /** @param capacity in samples; more than are ever needed at once */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Free space in samples, after the removal of samples before `keepFrom`. */
  roomFor(keepFrom: number): number {
    return this.#capacity - (this.end - this.#clamp(keepFrom));
  }

  /** Appends samples, for which there is room. @param keepFrom samples before this number may be removed */
  append(samples: Float64Array, keepFrom: number): void {
    this.#makeRoom(samples.length, keepFrom);
    this.values.set(samples, this.end - this.first);
    this.end += samples.length;
  }

  push(value: number, keepFrom: number): void {
    this.#makeRoom(1, keepFrom);
    this.values[this.end - this.first] = value;
    this.end++;
  }

  /** Removes all samples if the next sample has a number below `number`, which it then gets. */
  skipTo(number: number): void {
    if (number <= this.end) return;
    this.first = number;
    this.end = number;
  }

  /** View of the samples from `start` to `end` (exclusive), valid until the next `append` or `push`. */
  view(start: number, end: number): Float64Array {
    return this.values.subarray(start - this.first, end - this.first);
  }

  clear(): void {
    this.first = 0;
    this.end = 0;
  }

  #clamp(number: number): number {
    return Math.min(Math.max(number, this.first), this.end);
  }

  #makeRoom(count: number, keepFrom: number): void {
    if (this.values === EMPTY) this.values = new Float64Array(this.#capacity);
    if (this.end - this.first + count <= this.values.length) return;
    const from = this.#clamp(keepFrom);
    this.values.copyWithin(0, from - this.first, this.end - this.first);
    this.first = from;
  }
}
