import type { Inference, Tokenization } from '../../native/engine';
import type { ClassifiedWindow } from '../capabilities';

/** How the scores of windows become those of their text. */
export const COMBINATIONS = ['mean', 'max'] as const;
export type Combination = (typeof COMBINATIONS)[number];

/**
 * The windows of a text that was read whole, each with scores of its own; null: no places were asked for.
 *
 * @param score of one window's outputs
 */
export function classifiedWindows(
  { values, places }: Inference,
  labels: number,
  score: (outputs: Float32Array) => Float32Array,
): readonly ClassifiedWindow[] | null {
  if (!places) return null;
  let first = 0;
  return Array.from(places.lengths, (length, index) => {
    const { start, end } = extent(places, first, first + length);
    first += length;
    return { start, end, scores: score(values.slice(index * labels, (index + 1) * labels)) };
  });
}

/** Of the text's own tokens among those from `first` on. */
function extent({ texts, offsets }: Tokenization, first: number, last: number) {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (let token = first; token < last; token++) {
    if (texts[token] !== 1) continue;
    start = Math.min(start, offsets[2 * token] as number);
    end = Math.max(end, offsets[2 * token + 1] as number);
  }
  return { start: Math.min(start, end), end };
}

/** Of each label the mean of all windows, or the highest score of any. */
export function combineWindowScores(
  windows: readonly ClassifiedWindow[],
  combination: Combination,
): Float32Array {
  const [first, ...others] = windows.map(({ scores }) => scores);
  const combined = Float64Array.from(first ?? []);
  for (const scores of others) {
    for (const [label, score] of scores.entries()) {
      const known = combined[label] as number;
      combined[label] = combination === 'max' ? Math.max(known, score) : known + score;
    }
  }
  return Float32Array.from(combined, (value) =>
    combination === 'max' ? value : value / windows.length,
  );
}
