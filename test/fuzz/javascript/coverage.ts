/** Counters that istanbul-lib-instrument adds to code, by file. */
type Counters = Record<
  string,
  {
    readonly s: Record<string, number>;
    readonly f: Record<string, number>;
    readonly b: Record<string, number[]>;
  }
>;

/** Counts 1, 2, 3, 4 to 7, 8 to 15 … are told apart, as AFL does. */
function bucket(count: number): number {
  return count < 4 ? count : Math.min(8, 2 + Math.floor(Math.log2(count)));
}

/** Which parts of the instrumented code have run, and how often. */
export class Coverage {
  readonly #cells: (readonly [counters: Record<string, number>, key: string])[] = [];
  /** A bit for each bucket of each counter. */
  readonly #seen: Uint16Array;

  constructor() {
    const counters = (globalThis as { __coverage__?: Counters }).__coverage__ ?? {};
    for (const { s, f, b } of Object.values(counters)) {
      for (const group of [s, f, ...Object.values(b)] as Record<string, number>[]) {
        for (const key of Object.keys(group)) this.#cells.push([group, key]);
      }
    }
    this.#seen = new Uint16Array(this.#cells.length);
  }

  get size(): number {
    return this.#cells.length;
  }

  get covered(): number {
    return this.#seen.reduce((sum, bits) => sum + (bits > 0 ? 1 : 0), 0);
  }

  reset(): void {
    for (const [counters, key] of this.#cells) counters[key] = 0;
  }

  /** Whether something ran since `reset` that had not run, or not so often, before. */
  takeNew(): boolean {
    let isNew = false;
    for (const [index, [counters, key]] of this.#cells.entries()) {
      const count = counters[key] as number;
      if (count === 0) continue;
      const bit = 1 << bucket(count);
      if (((this.#seen[index] as number) & bit) !== 0) continue;
      (this.#seen[index] as number) |= bit;
      isNew = true;
    }
    return isNew;
  }
}
