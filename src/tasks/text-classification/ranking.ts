import { EngineError } from '../../native/engine';
import { allFinite } from '../../numeric/activations';
import type { Classification } from '../abilities';
import { type ScoreFunction, scores } from './probabilities';

export interface LabelScore {
  readonly label: string;
  /** The double that a float32 widens to, not rounded. */
  readonly score: number;
}

export interface Ranking {
  /** In the place of the model's own. */
  readonly scoreFunction?: ScoreFunction | null | undefined;
  /** How many of the labels, at most. Default: all. */
  readonly topK?: number | null | undefined;
}

/**
 * Labels by falling score, those of equal scores in the order of the model's outputs, as the
 * `text-classification` pipeline of transformers gives them with `top_k`.
 *
 * @throws EngineError INFERENCE_FAILED: by this function a score is not finite
 */
export function rank(
  labels: readonly string[],
  { scores: own, inference }: Classification,
  { scoreFunction, topK }: Ranking,
): readonly LabelScore[] {
  const values = scoreFunction ? scores(inference.logits, scoreFunction) : own;
  if (!allFinite(values)) {
    throw new EngineError('INFERENCE_FAILED', 'The model gave a score that is not finite.');
  }
  return labels
    .map((label, index) => ({ label, score: values[index] as number }))
    .sort((a, b) => b.score - a.score)
    .slice(0, topK ?? labels.length);
}
