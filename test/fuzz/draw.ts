import { seededRandom } from '../helpers/random';

/** Random choices that follow from a seed. */
export class Draw {
  readonly #random: () => number;
  readonly #pools = new Map<string, unknown[]>();

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** 0 to `limit` − 1. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** From 1 to `most`, mostly small: the logarithm is uniform. */
  size(most: number): number {
    return Math.max(1, Math.floor(most ** this.#random()));
  }

  pick<Value>(from: readonly Value[]): Value {
    return from[this.below(from.length)] as Value;
  }

  /** One of the values by their weights. */
  weighted<Value>(choices: readonly (readonly [weight: number, value: Value])[]): Value {
    let rest = this.#random() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return (choices.at(-1) as (typeof choices)[0])[1];
  }

  /**
   * What `make` makes, and mostly has made before: for what takes long to make. The last of `most` are
   * kept under the name.
   */
  kept<Value>(name: string, most: number, make: () => Value): Value {
    let pool = this.#pools.get(name) as Value[] | undefined;
    if (!pool) {
      pool = [];
      this.#pools.set(name, pool);
    }
    if (pool.length === most && !this.chance(0.03)) return this.pick(pool);
    const value = make();
    if (pool.length < most) pool.push(value);
    else pool[this.below(most)] = value;
    return value;
  }

  list<Value>(length: number, make: (index: number) => Value): Value[] {
    return Array.from({ length }, (_, index) => make(index));
  }
}
