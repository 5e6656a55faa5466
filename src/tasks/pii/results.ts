/** Why a result was found, as in Presidio's `analysis_explanation`. */
export interface Explanation {
  readonly recognizer: string;
  readonly pattern_name: string | null;
  readonly pattern: string | null;
  readonly original_score: number;
  readonly score: number;
  readonly textual_explanation: string | null;
  readonly score_context_improvement: number;
  readonly supportive_context_word: string;
  readonly validation_result: boolean | null;
  readonly regex_flags: number | null;
}

/** Span of personal data. Offsets in UTF-16 units. */
export interface PiiResult {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly explanation: Explanation;
}

/** A result, and the context words that raise its score; null: context has no effect. */
export interface FoundPii extends PiiResult {
  readonly context: readonly string[] | null;
}

export function explain(
  recognizer: string,
  score: number,
  details: Partial<Explanation> = {},
): Explanation {
  return {
    recognizer,
    pattern_name: null,
    pattern: null,
    original_score: score,
    score,
    textual_explanation: null,
    score_context_improvement: 0,
    supportive_context_word: '',
    validation_result: null,
    regex_flags: null,
    ...details,
  };
}

/**
 * Removes results with a score of 0, and results within another of their type with a score that is not lower. Source:
 * presidio-analyzer, entity_recognizer.py (`remove_duplicates`).
 *
 * @returns by descending score, then start, then descending length
 */
export function removeDuplicates<Result extends PiiResult>(
  results: readonly Result[],
): readonly Result[] {
  const length = ({ start, end }: PiiResult) => end - start;
  const ordered = results.toSorted(
    (a, b) =>
      compareText(a.entity, b.entity) ||
      a.start - b.start ||
      length(b) - length(a) ||
      b.score - a.score,
  );
  const kept: Result[] = [];
  let active: Result[] = [];
  for (const result of ordered) {
    if (result.score === 0) continue;
    active = active.filter(({ entity, end }) => entity === result.entity && end >= result.start);
    const isWithin = active.some(
      ({ start, end, score }) =>
        start <= result.start && end >= result.end && score >= result.score,
    );
    if (isWithin) continue;
    kept.push(result);
    active.push(result);
  }
  return kept.sort((a, b) => b.score - a.score || a.start - b.start || length(b) - length(a));
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
