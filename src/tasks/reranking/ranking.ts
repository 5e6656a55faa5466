/** A document's place in the list that was asked about, and its score: the double that a float32 widens to. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/**
 * By falling score, documents of equal scores in the order in which they came, as `CrossEncoder.rank` of
 * sentence-transformers has them.
 *
 * @param scores of the documents, in their order
 * @param most of the first ones; left out: all
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
