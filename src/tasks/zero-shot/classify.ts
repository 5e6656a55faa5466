import { softmax } from '../../lib/numbers';
import type { Inference, InferOptions, TextInput } from '../../native/engine';
import type { EntailmentClassifier, EntailmentMetadata } from '../capabilities';
import type { ZeroShotRequest, ZeroShotResult } from './zero-shot-classifier';

export type { ZeroShotRequest, ZeroShotResult } from './zero-shot-classifier';

/** Default hypothesis template of transformers. */
export const TEMPLATE = 'This example is {}.';

/**
 * Returns the problem of a hypothesis template; null if the template has exactly one `{}` in the
 * syntax of Python's `str.format`.
 */
export function findTemplateProblem(template: string): string | null {
  const places = template.replaceAll(/\{\{|\}\}/g, '').split('{}');
  if (places.length === 2 && !places.some((part) => /[{}]/.test(part))) return null;
  return 'expected one {} in the place of a label, and {{ or }} for other braces';
}

/**
 * Classifies texts with candidate labels.
 *
 * @throws EngineError INPUT_TOO_LONG if a hypothesis leaves no tokens for the text; the index
 *   refers to the text pair
 */
export async function classifyZeroShot(
  model: EntailmentClassifier,
  { texts, labels, template, isMultiLabel }: ZeroShotRequest,
  options: InferOptions,
): Promise<{
  readonly answers: readonly ZeroShotResult[];
  readonly inferences: readonly Inference[];
}> {
  const hypotheses = labels.map((label) => hypothesisOf(template, label));
  const pairs = texts.flatMap((text) =>
    hypotheses.map((pair): TextInput => ({ text, pair, isPair: true, truncation: 'only_first' })),
  );
  const classified = await model.runAll(pairs, options);
  const inferences = classified.map(({ inference }) => inference);
  const answers = texts.map((_, index) => {
    const own = inferences.slice(index * labels.length, (index + 1) * labels.length);
    return rankByScore(labels, scoresOf(own, model.metadata, isMultiLabel));
  });
  return { answers, inferences };
}

/** @param scores scores of the labels, in their order */
export function rankByScore(labels: readonly string[], scores: ArrayLike<number>): ZeroShotResult {
  return labels
    .map((label, index) => ({ label, index, score: scores[index] as number }))
    .sort((a, b) => b.score - a.score || b.index - a.index) // equal scores in the order of numpy's reversed argsort
    .map(({ label, score }) => ({ label, score }));
}

export function hypothesisOf(template: string, label: string): string {
  return template.replaceAll(/\{\{|\}\}|\{\}/g, (part) => (part === '{}' ? label : part.charAt(0)));
}

/**
 * Computes the label scores of a text.
 *
 * @param pairs text pairs of the text and each label
 */
function scoresOf(
  pairs: readonly Inference[],
  { entailment, contradiction }: EntailmentMetadata,
  isMultiLabel: boolean,
): ArrayLike<number> {
  const of = ({ values }: Inference, output: number) => values[output] as number;
  if (!isMultiLabel && pairs.length > 1) {
    return softmax(Float32Array.from(pairs, (pair) => of(pair, entailment)));
  }
  return pairs.map((pair) => {
    const both = Float32Array.of(of(pair, contradiction), of(pair, entailment));
    return softmax(both)[1] as number;
  });
}
