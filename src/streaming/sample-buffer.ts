const NONE = new Float64Array(0);

/** The last samples of a signal that goes on: those that nobody needs any more make room for those that come. */
export class SampleBuffer {
  values: Float64Array = NONE;
  readonly #capacity: number;
  /** The number of `values[0]`. */
  first = 0;
  /** The number that the next sample will have. */
  end = 0;

  /** @param capacity more than are ever needed at once: the more, the less often they are moved */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many more there is room for when those before `needed` are gone. */
  room(needed: number): number {
    const keptFrom = Math.min(Math.max(needed, this.first), this.end);
    return this.#capacity - (this.end - keptFrom);
  }

  /**
   * Appends samples from `offset` to `offset + count`, for which there is room.
   *
   * @param needed the number of the first one that is still needed
   */
  append(samples: Float64Array, offset: number, count: number, needed: number): void {
    this.#makeRoom(count, needed);
    const at = this.end - this.first;
    if (count === samples.length) this.values.set(samples, at);
    else this.values.set(samples.subarray(offset, offset + count), at);
    this.end += count;
  }

  push(value: number, needed: number): void {
    this.#makeRoom(1, needed);
    this.values[this.end - this.first] = value;
    this.end++;
  }

  /** The next sample has this number, if it would have a smaller one: none before it is kept. */
  skipTo(number: number): void {
    if (number <= this.end) return;
    this.first = number;
    this.end = number;
  }

  /** Those with the numbers from `start` to before `end`, as long as nothing is appended. */
  view(start: number, end: number): Float64Array {
    return this.values.subarray(start - this.first, end - this.first);
  }

  /** Another signal begins. */
  clear(): void {
    this.first = 0;
    this.end = 0;
  }

  #makeRoom(count: number, needed: number): void {
    // Not before: a stream that is silent needs none.
    if (this.values === NONE) this.values = new Float64Array(this.#capacity);
    if (this.end - this.first + count <= this.values.length) return;
    const keptFrom = Math.min(Math.max(needed, this.first), this.end);
    this.values.copyWithin(0, keptFrom - this.first, this.end - this.first);
    this.first = keptFrom;
  }
}
