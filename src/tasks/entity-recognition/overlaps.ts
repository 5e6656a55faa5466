import type { TimeSlice } from '../../lib/time-slice';
import type { EntityMetadata, EntityOptions } from './entities';
import { RangeMaximum } from './range-maximum';
import type { Candidate, SpanRows } from './span-rows';

type Options = Pick<EntityOptions, 'isFlat' | 'isPerLabel' | 'isMultiLabel'>;

/** Spans that are selected without a look at the clock. */
const SPANS_PER_CHECK = 1024;

/**
 * Selects entities by descending score, and drops spans that conflict with a selected one: overlapping spans or, if
 * entities can contain others, spans that overlap in part. Source: gliner, decoding/decoder.py (`greedy_search`), which
 * compares each span with all selected ones. Here the time is O(n log n), because a request chooses the number of spans.
 *
 * @param spans in the order of the model
 * @returns entities by ascending first word
 */
export function selectEntities(spans: SpanRows, options: Options): readonly Candidate[] {
  const steps = selecting(spans, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** As `selectEntities`, in time slices. */
export async function selectEntitiesInSlices(
  spans: SpanRows,
  options: Options,
  turns: TimeSlice,
): Promise<readonly Candidate[]> {
  const steps = selecting(spans, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
}

/**
 * Resolution of overlaps for a setting of a request.
 *
 * @param flat whether entities do not overlap; null: the default of the model's library
 */
export function overlapsOf(
  flat: boolean | null,
  { isFlatPerLabel = false }: EntityMetadata,
): Pick<EntityOptions, 'isFlat' | 'isPerLabel'> {
  return { isFlat: flat ?? true, isPerLabel: flat === null && isFlatPerLabel };
}

function* selecting(
  spans: SpanRows,
  { isPerLabel, ...options }: Options,
): Generator<void, readonly Candidate[], void> {
  if (!isPerLabel) return yield* selectingFrom(spans, options);
  const selected: Candidate[] = [];
  for (const own of spans.byLabel()) selected.push(...(yield* selectingFrom(own, options)));
  return selected.sort((a, b) => a.first - b.first || a.last - b.last || a.label - b.label);
}

function* selectingFrom(
  spans: SpanRows,
  { isFlat, isMultiLabel }: Options,
): Generator<void, readonly Candidate[], void> {
  let words = 0;
  for (let row = 0; row < spans.length; row++) words = Math.max(words, spans.last(row) + 1);
  const selected = new SelectedSpans(words, isFlat);
  const kept: Candidate[] = [];
  for (const [place, row] of spans.byScore().entries()) {
    if (place % SPANS_PER_CHECK === 0) yield;
    const first = spans.first(row);
    const last = spans.last(row);
    const isRejected = selected.has(first, last)
      ? !isMultiLabel
      : selected.conflictsWith(first, last);
    if (isRejected) continue;
    selected.add(first, last);
    kept.push(spans.at(row));
  }
  yield;
  return kept.sort((a, b) => a.first - b.first);
}

/** Selected spans by their first and last words. No two of them conflict. */
class SelectedSpans {
  readonly #words: number;
  readonly #isFlat: boolean;
  readonly #spans = new Set<number>();
  /** By first word: the last word of the longest span. */
  readonly #lastWords: RangeMaximum;
  /** By last word: the first word of the longest span, negated. */
  readonly #firstWords: RangeMaximum;

  constructor(words: number, isFlat: boolean) {
    this.#words = words;
    this.#isFlat = isFlat;
    this.#lastWords = new RangeMaximum(words);
    this.#firstWords = new RangeMaximum(words);
  }

  has(first: number, last: number): boolean {
    return this.#spans.has(first * this.#words + last);
  }

  conflictsWith(first: number, last: number): boolean {
    if (this.#isFlat) return this.#lastWords.over(0, last + 1) >= first;
    const endsLater = this.#lastWords.over(first + 1, last + 1) > last;
    return endsLater || -this.#firstWords.over(first, last) < first;
  }

  add(first: number, last: number): void {
    this.#spans.add(first * this.#words + last);
    this.#lastWords.raise(first, last);
    this.#firstWords.raise(last, -first);
  }
}
