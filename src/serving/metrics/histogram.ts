import type { Family, Sample } from './family';

/** Bucket bounds of durations in seconds, from a run of a small signal model to the default request timeout. */
export const DURATION_BOUNDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

/** Histogram with fixed bounds. `observe` takes tens of nanoseconds. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Values per bucket, not cumulative. The last bucket is for values over all bounds. */
  readonly #counts: Float64Array;
  readonly #labels: Sample['labels'];
  #sum = 0;

  /** @param bounds inclusive upper bounds, ascending */
  constructor(bounds: readonly number[], labels: Sample['labels'] = {}) {
    this.#bounds = bounds;
    this.#labels = labels;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** @param count number of observations of this value */
  observe(value: number, count = 1): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    (this.#counts[bucket] as number) += count;
    this.#sum += value * count;
  }

  /** Cumulative buckets, sum and count. */
  samples(name: string): Sample[] {
    const labels = this.#labels;
    let total = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      total += this.#counts[bucket] as number;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}

/** @param read one histogram per set of labels */
export function histogram(name: string, help: string, read: () => readonly Histogram[]): Family {
  const samples = (): Sample[] => read().flatMap((values) => values.samples(name));
  return { name, help, type: 'histogram', read: samples };
}

/** Bounds 1, 2, 4 … up to `max`, a power of two. */
export function powersOfTwo(max: number): readonly number[] {
  return Array.from({ length: Math.log2(max) + 1 }, (_, exponent) => 2 ** exponent);
}
