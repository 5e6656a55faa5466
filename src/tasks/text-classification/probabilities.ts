import { allFinite, sigmoid, softmax } from '../../lib/activations';
import { EngineError } from '../../native/engine';
import type { Classification } from '../capabilities';

export const SCORE_FUNCTIONS = ['softmax', 'sigmoid', 'none'] as const;
export type ScoreFunction = (typeof SCORE_FUNCTIONS)[number];

export const PROBLEM_TYPES = [
  'regression',
  'single_label_classification',
  'multi_label_classification',
] as const;
export type ProblemType = (typeof PROBLEM_TYPES)[number];

/**
 * Which function turns logits into scores, by the rules, and in the order, of transformers 5.23
 * (pipelines/text_classification.py, `postprocess`). The configuration's own `function_to_apply`
 * comes last there, after rules that cover every model with at least one label, so never.
 */
export function chooseScoreFunction(
  problemType: ProblemType | null,
  numLabels: number,
): ScoreFunction {
  if (problemType === 'regression') return 'none';
  if (problemType === 'multi_label_classification' || numLabels === 1) return 'sigmoid';
  return 'softmax';
}

export function scores(logits: Float32Array, scoreFunction: ScoreFunction): Float32Array {
  switch (scoreFunction) {
    case 'softmax':
      return softmax(logits);
    case 'sigmoid':
      return sigmoid(logits);
    case 'none':
      return logits;
  }
}

export interface LabelScore {
  readonly label: string;
  /** The double that a float32 widens to, not rounded. */
  readonly score: number;
}

export interface RankOptions {
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
export function rankLabels(
  labels: readonly string[],
  { scores: own, inference }: Classification,
  { scoreFunction, topK }: RankOptions,
): readonly LabelScore[] {
  const values = scoreFunction ? scores(inference.values, scoreFunction) : own;
  if (!allFinite(values)) {
    throw new EngineError('INFERENCE_FAILED', 'The model gave a score that is not finite.');
  }
  return labels
    .map((label, index) => ({ label, score: values[index] as number }))
    .sort((a, b) => b.score - a.score)
    .slice(0, topK ?? labels.length);
}
