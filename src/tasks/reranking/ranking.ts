/** Document index in the request and score. The score is a float32 value, converted to double. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/**
 * Sorts documents by descending score. Documents with equal scores keep their order, as in
 * `CrossEncoder.rank` of sentence-transformers.
 *
 * @param scores scores in document order
 * @param most maximum number of results. Default: all
 */
export function rankByScore(
  scores: readonly number[],
  most?: number | null,
): readonly RankedDocument[] {
  return scores
    .map((score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, most ?? scores.length);
}
