/** Samples per value of a level, and values of a level per value of the next level. */
const FACTOR = 16;

interface Level {
  readonly lows: Float32Array;
  readonly highs: Float32Array;
}

/**
 * Minimum and maximum of ranges of a signal. Levels of precomputed ranges keep the cost independent of the length of a
 * range, so that an hour is drawn as fast as a second.
 */
export class Envelope {
  readonly samples: Float64Array | Float32Array;
  /** Minimum and maximum of the range of the last call of `measure`. */
  low = Number.POSITIVE_INFINITY;
  high = Number.NEGATIVE_INFINITY;
  #levels: readonly Level[] | null = null;

  constructor(samples: Float64Array | Float32Array) {
    this.samples = samples;
  }

  /** Computes the levels, before the first long range needs them. */
  prepare(): void {
    if (this.#levels === null) this.#levels = createLevels(this.samples);
  }

  /**
   * Minimum and maximum of the samples `from` to `to` (exclusive). Missing samples (NaN) are ignored.
   *
   * @returns whether the range has a sample
   */
  measure(from: number, to: number): boolean {
    this.low = Number.POSITIVE_INFINITY;
    this.high = Number.NEGATIVE_INFINITY;
    let [start, end] = [from, to];
    let lows: ArrayLike<number> = this.samples;
    let highs: ArrayLike<number> = this.samples;
    if (end - start > 4 * FACTOR) {
      this.prepare();
      for (const level of this.#levels ?? []) {
        if (end - start <= 4 * FACTOR) break;
        const first = Math.ceil(start / FACTOR);
        const last = Math.floor(end / FACTOR);
        this.#scan(lows, highs, start, first * FACTOR);
        this.#scan(lows, highs, last * FACTOR, end);
        [start, end] = [first, last];
        ({ lows, highs } = level);
      }
    }
    this.#scan(lows, highs, start, end);
    return this.low <= this.high;
  }

  #scan(lows: ArrayLike<number>, highs: ArrayLike<number>, from: number, to: number): void {
    let { low, high } = this;
    for (let i = from; i < to; i++) {
      const least = lows[i] as number;
      const greatest = highs[i] as number;
      if (least < low) low = least;
      if (greatest > high) high = greatest;
    }
    this.low = low;
    this.high = high;
  }
}

/** Levels from the finest on. A range without a finite sample has the minimum +∞ and the maximum -∞. */
function createLevels(samples: Float64Array | Float32Array): readonly Level[] {
  const levels: Level[] = [];
  let lows: ArrayLike<number> = samples;
  let highs: ArrayLike<number> = samples;
  while (lows.length > 4 * FACTOR) {
    const level = reduce(lows, highs);
    levels.push(level);
    ({ lows, highs } = level);
  }
  return levels;
}

/** Complete ranges only: `measure` scans the values behind them one by one. */
function reduce(lows: ArrayLike<number>, highs: ArrayLike<number>): Level {
  const length = Math.floor(lows.length / FACTOR);
  const level = { lows: new Float32Array(length), highs: new Float32Array(length) };
  for (let index = 0; index < length; index++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const end = (index + 1) * FACTOR;
    for (let i = index * FACTOR; i < end; i++) {
      const least = lows[i] as number;
      const greatest = highs[i] as number;
      if (least < low) low = least;
      if (greatest > high) high = greatest;
    }
    level.lows[index] = low;
    level.highs[index] = high;
  }
  return level;
}
