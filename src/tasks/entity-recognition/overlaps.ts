import type { Candidate, EntityMetadata, EntityOptions } from './entities';

/**
 * Selects entities by descending score, and drops spans that conflict with a selected one: overlapping spans or, if
 * entities can contain others, spans that overlap in part. Source: gliner, decoding/decoder.py (`greedy_search`).
 *
 * @param candidates in the order of the model
 * @returns entities by ascending first word
 */
export function selectEntities(
  candidates: readonly Candidate[],
  options: Pick<EntityOptions, 'isFlat' | 'isPerLabel' | 'isMultiLabel'>,
): readonly Candidate[] {
  if (!options.isPerLabel) return selectWithoutConflicts(candidates, options);
  const byLabel = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const own = byLabel.get(candidate.label);
    if (own) own.push(candidate);
    else byLabel.set(candidate.label, [candidate]);
  }
  const selected = [...byLabel.values()].flatMap((own) => selectWithoutConflicts(own, options));
  return selected.sort((a, b) => a.first - b.first || a.last - b.last || a.label - b.label);
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

function selectWithoutConflicts(
  candidates: readonly Candidate[],
  { isFlat, isMultiLabel }: Pick<EntityOptions, 'isFlat' | 'isMultiLabel'>,
): readonly Candidate[] {
  const selected = new SelectedSpans(isFlat);
  const byScore = candidates.toSorted((a, b) => b.score - a.score);
  const kept = byScore.filter((candidate) => {
    if (selected.hasSame(candidate)) return isMultiLabel && selected.add(candidate);
    return !selected.conflictsWith(candidate) && selected.add(candidate);
  });
  return kept.sort((a, b) => a.first - b.first);
}

type Words = Pick<Candidate, 'first' | 'last'>;

/** Selected spans by their words: a span is compared only with those that share a word with it. */
class SelectedSpans {
  readonly #isFlat: boolean;
  readonly #byWord = new Map<number, Words[]>();

  constructor(isFlat: boolean) {
    this.#isFlat = isFlat;
  }

  hasSame({ first, last }: Words): boolean {
    return this.#spansAt(first).some((span) => span.first === first && span.last === last);
  }

  conflictsWith(candidate: Words): boolean {
    for (let word = candidate.first; word <= candidate.last; word++) {
      if (this.#spansAt(word).some((span) => this.#isFlat || !isNested(span, candidate))) {
        return true;
      }
    }
    return false;
  }

  add(span: Words): true {
    for (let word = span.first; word <= span.last; word++) {
      const spans = this.#byWord.get(word);
      if (spans) spans.push(span);
      else this.#byWord.set(word, [span]);
    }
    return true;
  }

  #spansAt(word: number): readonly Words[] {
    return this.#byWord.get(word) ?? [];
  }
}

function isNested(a: Words, b: Words): boolean {
  return (a.first <= b.first && a.last >= b.last) || (b.first <= a.first && b.last >= a.last);
}
