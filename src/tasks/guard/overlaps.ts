import type { Hit } from './check-result';
import type { Finding } from './guard-result';

/** A finding of one part. */
interface Interval {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/** Where a hit lies in one part. */
interface Query {
  readonly start: number;
  readonly end: number;
  /** Of the hit. */
  readonly index: number;
}

/** What one label has in one part. */
interface Group {
  readonly intervals: Interval[];
  readonly queries: Query[];
}

/**
 * Of each hit the highest score among the findings of its label that it overlaps; null: it overlaps none. Takes
 * (hits + findings) x log(findings) steps: a tagger may find something in every word.
 */
export function highestScores(
  hits: readonly Hit[],
  findings: readonly Finding[],
): readonly (number | null)[] {
  const groups = new Map<string, Group>();
  const groupOf = (label: string, part: number | null): Group => {
    const key = `${part} ${label}`;
    const known = groups.get(key);
    if (known) return known;
    const made: Group = { intervals: [], queries: [] };
    groups.set(key, made);
    return made;
  };
  for (const { label, part, start, end, score } of findings) {
    const place = { start: start ?? 0, end: end ?? Number.POSITIVE_INFINITY };
    groupOf(label, part).intervals.push({ ...place, score: Math.max(0, score) });
  }
  for (const [index, { variant: look, label, start, end }] of hits.entries()) {
    for (const place of look.toOriginalSpans(start, end)) {
      groupOf(label, place.part).queries.push({ start: place.start, end: place.end, index });
    }
  }
  const highest: (number | null)[] = hits.map(() => null);
  for (const group of groups.values()) {
    if (group.intervals.length > 0) sweep(group, highest);
  }
  return highest;
}

/** In the order of places: what begins before the end of a query is known when it is asked what ends behind its start. */
function sweep({ intervals, queries }: Group, highest: (number | null)[]): void {
  intervals.sort((a, b) => a.start - b.start);
  queries.sort((a, b) => a.end - b.end);
  const ends = [...new Set(intervals.map(({ end }) => end))].sort((a, b) => b - a);
  const scores = new PrefixMaxima(ends.length);
  let next = 0;
  for (const { start, end, index } of queries) {
    for (; next < intervals.length; next++) {
      const interval = intervals[next] as Interval;
      if (interval.start >= end) break;
      scores.raise(countAbove(ends, interval.end), interval.score);
    }
    const found = scores.maximum(countAbove(ends, start));
    if (found !== null) highest[index] = Math.max(highest[index] ?? 0, found);
  }
}

/** How many of the values, which fall, are above this one. */
function countAbove(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) > value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fenwick tree: the maximum of the first values of a row, which only rise. */
class PrefixMaxima {
  readonly #tree: Float64Array;

  constructor(size: number) {
    this.#tree = new Float64Array(size + 1).fill(-1);
  }

  raise(place: number, value: number): void {
    for (let at = place + 1; at < this.#tree.length; at += at & -at) {
      this.#tree[at] = Math.max(this.#tree[at] as number, value);
    }
  }

  /** Of the first `count`; null: none of them has a value. */
  maximum(count: number): number | null {
    let found = -1;
    for (let at = count; at > 0; at -= at & -at) {
      found = Math.max(found, this.#tree[at] as number);
    }
    return found < 0 ? null : found;
  }
}
