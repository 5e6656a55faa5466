/** Numbers whose maximum over a range is known in logarithmic time (a segment tree). */
export class RangeMaximum {
  readonly #size: number;
  /** The numbers, after the maxima of pairs, of pairs of pairs, and so on. */
  readonly #tree: Float64Array;

  /** @param size number of values, which are -Infinity at first */
  constructor(size: number) {
    this.#size = size;
    this.#tree = new Float64Array(2 * size).fill(Number.NEGATIVE_INFINITY);
  }

  /** Sets a value unless it is larger. */
  raise(index: number, value: number): void {
    for (let node = this.#size + index; node > 0; node >>= 1) {
      if ((this.#tree[node] as number) >= value) return;
      this.#tree[node] = value;
    }
  }

  /** Maximum from `begin` up to, not including, `end`; -Infinity for an empty range. */
  over(begin: number, end: number): number {
    let maximum = Number.NEGATIVE_INFINITY;
    let to = this.#size + end;
    for (let from = this.#size + begin; from < to; from >>= 1, to >>= 1) {
      if (from % 2 === 1) maximum = Math.max(maximum, this.#tree[from++] as number);
      if (to % 2 === 1) maximum = Math.max(maximum, this.#tree[--to] as number);
    }
    return maximum;
  }
}
