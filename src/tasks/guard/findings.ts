import type { Check, ModelCheck } from './guard-file';
import type { Finding, GuardResult, ScoredFinding, Unchecked } from './guard-result';
import type { Hit, UnreadText } from './scan';

/**
 * Converts hits to findings, one per part that a hit spans. Of equal findings, the one with the
 * highest score remains. A finding in the joined parts is dropped if it overlaps a finding of a
 * single part: a name at the end of a part and an address at the start of the next part stay
 * separate findings.
 */
export function toFindings(check: Check, hits: readonly Hit[]): readonly Finding[] {
  const single = distinct(
    check,
    hits.filter(({ variant }) => variant.part !== null),
  );
  const joined = hits.filter(({ variant }) => variant.part === null);
  const highest = highestScores(joined, single);
  const inJoined = joined.filter((_, index) => highest[index] === null);
  return [...single, ...distinct(check, inJoined)];
}

/**
 * Converts hits, including hits below the thresholds. `singlePartScore` determines whether a
 * finding in the joined parts is reported.
 */
export function toScoredFindings(check: Check, hits: readonly Hit[]): readonly ScoredFinding[] {
  const single = distinct(
    check,
    hits.filter(({ variant }) => variant.part !== null),
  );
  const joined = hits.filter(({ variant }) => variant.part === null);
  const highest = highestScores(joined, single);
  const inJoined = joined.flatMap((hit, index) =>
    distinct(check, [hit]).map((finding) => ({
      ...finding,
      singlePartScore: highest[index] as number | null,
    })),
  );
  return [...single.map((finding) => ({ ...finding, singlePartScore: null })), ...inJoined];
}

function distinct({ name, action }: Check, hits: readonly Hit[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { variant, label, score, start, end } of hits) {
    const isWhole = variant.coversWhole(start, end);
    const spans = isWhole
      ? [{ part: variant.part, start: null, end: null }]
      : variant.toOriginalSpans(start, end);
    for (const span of spans) {
      const key = `${span.part} ${span.start} ${span.end} ${label}`;
      const existing = found.get(key);
      if (existing && existing.score >= score) continue;
      found.set(key, { check: name, label, score, ...span, variant: variant.name, action });
    }
  }
  return [...found.values()];
}

/** Sorts findings by part and start offset. Findings in the joined parts are first. */
export function sortFindings<Item extends Finding>(findings: readonly Item[]): readonly Item[] {
  const position = ({ part, start }: Finding) => [part ?? -1, start ?? -1] as const;
  return findings.toSorted((a, b) => {
    const [[partA, startA], [partB, startB]] = [position(a), position(b)];
    return partA - partB || startA - startB;
  });
}

/** Reports the text after the last window that a model read. */
export function toUnchecked(
  { name }: Check,
  unread: readonly UnreadText[],
  action: Unchecked['action'],
): readonly Unchecked[] {
  return unread.map(({ variant, start }) => {
    const [span] = variant.toOriginalSpans(start, variant.text.length);
    return {
      check: name,
      part: span?.part ?? variant.part,
      start: span?.start ?? null,
      limit: 'windows',
      action,
    };
  });
}

/** Finding of a single part. */
interface Interval {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/** Span of a hit in one part. */
interface Query {
  readonly start: number;
  readonly end: number;
  /** Index of the hit. */
  readonly index: number;
}

/** Findings and hits of one label in one part. */
interface Group {
  readonly intervals: Interval[];
  readonly queries: Query[];
}

/**
 * Returns for each hit the highest score of the overlapping findings with the same label; null if
 * no finding overlaps. Complexity: (hits + findings) × log(findings), because a token classifier
 * may find entities in every word.
 */
export function highestScores(
  hits: readonly Hit[],
  findings: readonly Finding[],
): readonly (number | null)[] {
  const groups = new Map<string, Group>();
  const groupOf = (label: string, part: number | null): Group => {
    const key = `${part} ${label}`;
    const existing = groups.get(key);
    if (existing) return existing;
    const made: Group = { intervals: [], queries: [] };
    groups.set(key, made);
    return made;
  };
  for (const { label, part, start, end, score } of findings) {
    const span = { start: start ?? 0, end: end ?? Number.POSITIVE_INFINITY };
    groupOf(label, part).intervals.push({ ...span, score: Math.max(0, score) });
  }
  for (const [index, { variant, label, start, end }] of hits.entries()) {
    for (const span of variant.toOriginalSpans(start, end)) {
      groupOf(label, span.part).queries.push({ start: span.start, end: span.end, index });
    }
  }
  const highest: (number | null)[] = hits.map(() => null);
  for (const group of groups.values()) {
    if (group.intervals.length > 0) sweep(group, highest);
  }
  return highest;
}

/**
 * Sweeps over the queries by end offset. At each query, the tree contains the intervals that start
 * before the end of the query; the tree is indexed by interval end, descending.
 */
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

/** Returns how many of the descending values exceed `value`. */
function countAbove(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) > value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fenwick tree for prefix maxima. Values only increase. */
class PrefixMaxima {
  readonly #tree: Float64Array;

  constructor(size: number) {
    this.#tree = new Float64Array(size + 1).fill(-1);
  }

  raise(index: number, value: number): void {
    for (let at = index + 1; at < this.#tree.length; at += at & -at) {
      this.#tree[at] = Math.max(this.#tree[at] as number, value);
    }
  }

  /** Returns the maximum of the first `count` values; null if none is set. */
  maximum(count: number): number | null {
    let found = -1;
    for (let at = count; at > 0; at -= at & -at) {
      found = Math.max(found, this.#tree[at] as number);
    }
    return found < 0 ? null : found;
  }
}

/**
 * Returns the threshold of a label; null if the check ignores the label. Patterns have the
 * threshold 0.
 */
export function thresholdOf(check: Check, label: string): number | null {
  if (check.type === 'patterns') return 0;
  if (check.labels)
    return Object.hasOwn(check.labels, label) ? (check.labels[label] as number) : null;
  return check.type === 'token-classification' ? check.threshold : null;
}

/** Creates a predicate: whether a hit reaches the threshold of its label. */
export function reachesThreshold(check: Check) {
  return ({ label, score }: { readonly label: string; readonly score: number }): boolean =>
    score >= (thresholdOf(check, label) ?? Number.POSITIVE_INFINITY);
}

/** Creates a predicate: whether an element of `scores` is also an element of `findings`. */
export function isReported(check: Check) {
  return ({
    label,
    score,
    singlePartScore,
  }: Pick<ScoredFinding, 'label' | 'score' | 'singlePartScore'>): boolean => {
    const reached = reachesThreshold(check);
    return (
      reached({ label, score }) &&
      (singlePartScore === null || !reached({ label, score: singlePartScore }))
    );
  };
}

/** Returns a copy of the check with all thresholds set to 0. */
export function withoutThresholds<Check extends ModelCheck>(check: Check): Check {
  const labels =
    check.labels && Object.fromEntries(Object.keys(check.labels).map((label) => [label, 0]));
  const counts = { ...check, ...(labels && { labels }) };
  return counts.type === 'token-classification' ? { ...counts, threshold: 0 } : counts;
}

/**
 * Returns the action for a result: the strictest action of its findings, errors and unchecked
 * texts.
 */
export function actionOf(
  findings: readonly { readonly action: string }[],
  problems: readonly { readonly action: string }[],
): GuardResult['action'] {
  if ([...findings, ...problems].some(({ action }) => action === 'block')) return 'block';
  return findings.some(({ action }) => action === 'redact') ? 'redact' : 'allow';
}
