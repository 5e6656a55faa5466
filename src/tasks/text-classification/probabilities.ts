import { sigmoid, softmax } from '../../numeric/activations';

export type ScoreFunction = 'softmax' | 'sigmoid' | 'none';

export type ProblemType =
  | 'regression'
  | 'single_label_classification'
  | 'multi_label_classification';

export interface ScoreRule {
  readonly problemType: ProblemType | null;
  readonly numLabels: number;
  readonly functionToApply: ScoreFunction | null;
}

/**
 * Which function turns logits into scores, by the rules, and in the order, of transformers 5.23
 * (pipelines/text_classification.py, `postprocess`). The configuration's own `function_to_apply`
 * comes last there, after rules that cover every model with at least one label.
 */
export function chooseScoreFunction(rule: ScoreRule): ScoreFunction {
  if (rule.problemType === 'regression') return 'none';
  if (rule.problemType === 'multi_label_classification' || rule.numLabels === 1) return 'sigmoid';
  if (rule.problemType === 'single_label_classification' || rule.numLabels > 1) return 'softmax';
  return rule.functionToApply ?? 'none';
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
