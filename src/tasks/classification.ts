import { allFinite, argmax, sigmoid, softmax } from '../lib/numbers';
import { EngineError, type Inference, type Tokenization } from '../native/engine';
import type { Classification, ClassifiedWindow, ClassifierMetadata } from './capabilities';

export const SCORE_FUNCTIONS = ['softmax', 'sigmoid', 'none'] as const;
export type ScoreFunction = (typeof SCORE_FUNCTIONS)[number];

export const PROBLEM_TYPES = [
  'regression',
  'single_label_classification',
  'multi_label_classification',
] as const;
export type ProblemType = (typeof PROBLEM_TYPES)[number];

/** Ways to combine the scores of the windows of a long text. */
export const COMBINATIONS = ['mean', 'max'] as const;
export type Combination = (typeof COMBINATIONS)[number];

/**
 * Text that is empty after Python's `str.strip()`: characters with bidirectional type WS, B or S or of
 * category Zs (CPython, Objects/unicodetype_db.h, `_PyUnicode_IsWhitespace`, Unicode 15).
 * JavaScript's `trim()` keeps U+001C to U+001F and U+0085, and removes U+FEFF.
 */
const ONLY_WHITESPACE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python strips these control characters
  /^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

export function isBlank(text: string): boolean {
  return ONLY_WHITESPACE.test(text);
}

/**
 * Chooses the function that turns logits into scores, by the rules of transformers 5.23
 * (pipelines/text_classification.py, `postprocess`). `function_to_apply` of the configuration has no
 * effect: in transformers it follows rules that already cover all models with at least one label.
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

/**
 * @param scores scores of all labels, in the order of `labels`
 * @param threshold score from which the second of two labels is the label; null: the label has the highest score
 */
export function toClassification(
  { labels }: ClassifierMetadata,
  scores: Float32Array,
  inference: Inference,
  threshold: number | null = null,
): Classification {
  const top = threshold === null ? argmax(scores) : Number((scores[1] as number) >= threshold);
  return { label: labels[top] as string, score: scores[top] as number, scores, inference };
}

export interface LabelScore {
  readonly label: string;
  /** The float32 score widened to a double, not rounded. */
  readonly score: number;
}

export interface RankOptions {
  /** Replaces the score function of the model. */
  readonly scoreFunction?: ScoreFunction | null | undefined;
  /** Maximum number of labels. Default: all. */
  readonly topK?: number | null | undefined;
}

/**
 * Labels by descending score, as the `text-classification` pipeline of transformers returns them with
 * `top_k`. Labels with equal scores keep the order of the model outputs.
 *
 * @throws EngineError INFERENCE_FAILED: a score is not finite
 */
export function rankLabels(
  labels: readonly string[],
  { scores: own, inference }: Classification,
  { scoreFunction, topK }: RankOptions,
): readonly LabelScore[] {
  const values = scoreFunction ? scores(inference.values, scoreFunction) : own;
  if (!allFinite(values)) {
    throw new EngineError('INFERENCE_FAILED', 'The model returned a score that is not finite.');
  }
  return labels
    .map((label, index) => ({ label, score: values[index] as number }))
    .sort((a, b) => b.score - a.score)
    .slice(0, topK ?? labels.length);
}

/**
 * Scores of each window of a long text; null if the input did not request token offsets.
 *
 * @param labels number of outputs per window
 * @param score turns the outputs of a window into scores
 */
export function classifiedWindows(
  { values, places }: Inference,
  labels: number,
  score: (outputs: Float32Array) => Float32Array,
): readonly ClassifiedWindow[] | null {
  if (!places) return null;
  let first = 0;
  return Array.from(places.lengths, (length, index) => {
    const { start, end } = windowExtent(places, first, first + length);
    first += length;
    return { start, end, scores: score(values.slice(index * labels, (index + 1) * labels)) };
  });
}

/** Range of the text that the tokens [first, last) cover, in UTF-16 units. Special tokens are ignored. */
function windowExtent({ texts, offsets }: Tokenization, first: number, last: number) {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (let token = first; token < last; token++) {
    if (texts[token] !== 1) continue;
    start = Math.min(start, offsets[2 * token] as number);
    end = Math.max(end, offsets[2 * token + 1] as number);
  }
  return { start: Math.min(start, end), end };
}

/** Mean or maximum over all windows, for each label. */
export function combineWindowScores(
  windows: readonly ClassifiedWindow[],
  combination: Combination,
): Float32Array {
  const [first, ...rest] = windows.map(({ scores }) => scores);
  const combined = Float64Array.from(first ?? []);
  for (const scores of rest) {
    for (const [label, score] of scores.entries()) {
      const current = combined[label] as number;
      combined[label] = combination === 'max' ? Math.max(current, score) : current + score;
    }
  }
  return Float32Array.from(combined, (value) =>
    combination === 'max' ? value : value / windows.length,
  );
}

/** Scores by label, in the order of the labels. */
export function byName(
  names: readonly string[],
  values: Float32Array,
): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] as number]));
}
