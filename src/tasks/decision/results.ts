import type { Question, QuestionAnswer } from './questions';

/** Result of a question, before rounding. */
export type QuestionResult = PredicateResult | ChoiceResult | ScoreResult;

/** Properties of the answer, unchanged. */
type AnswerProperties = Omit<QuestionAnswer, 'probabilities'>;

export interface PredicateResult extends AnswerProperties {
  readonly type: 'predicate';
  /** Probability that the statement is true. */
  readonly probability: number;
}

export interface ChoiceResult extends AnswerProperties {
  readonly type: 'choice';
  /** Index of the most probable option; of equal ones the first. */
  readonly choice: number;
  /** See `choiceConfidence`. */
  readonly confidence: number;
  /** In the order of the options. The sum is 1. */
  readonly probabilities: readonly number[];
}

export interface ScoreResult extends AnswerProperties {
  readonly type: 'score';
  /** Mean of the levels, weighted with their probabilities: from 0 to the number of levels - 1. */
  readonly score: number;
  /** See `scoreConfidence`. */
  readonly confidence: number;
  /** From level 0. The sum is 1. */
  readonly probabilities: readonly number[];
}

/** Result of a question from the probabilities of the model. */
export function resultOf(
  { type }: Pick<Question, 'type'>,
  { probabilities: given, ...properties }: QuestionAnswer,
): QuestionResult {
  const probabilities = normalized(given);
  switch (type) {
    case 'predicate':
      return { type, probability: probabilities[1] as number, ...properties };
    case 'choice': {
      const confidence = choiceConfidence(probabilities);
      const choice = firstMaximum(probabilities);
      return { type, choice, confidence, probabilities, ...properties };
    }
    case 'score': {
      const score = probabilities.reduce((sum, probability, level) => sum + level * probability, 0);
      const confidence = scoreConfidence(probabilities);
      return { type, score, confidence, probabilities, ...properties };
    }
  }
}

/**
 * Confidence of a choice: the largest probability, scaled so that equal probabilities have 0 and certainty has 1.
 * Source: system-one-adapter-python, confidence_metrics.py.
 */
export function choiceConfidence(probabilities: readonly number[]): number {
  const equal = 1 / probabilities.length;
  if (equal === 1) return 1;
  return clamped((Math.max(...probabilities) - equal) / (1 - equal));
}

/**
 * Confidence of a score: 1 - the mean distance from the most probable level, relative to the mean distance of equal
 * probabilities from the middle of the scale; at least 0. Source: as `choiceConfidence`.
 */
export function scoreConfidence(probabilities: readonly number[]): number {
  const count = probabilities.length;
  if (count === 1) return 1;
  const mode = firstMaximum(probabilities);
  const middle = (count - 1) / 2;
  const distance = probabilities.reduce((sum, p, level) => sum + p * Math.abs(level - mode), 0);
  const equal = probabilities.reduce((sum, _, level) => sum + Math.abs(level - middle), 0) / count;
  return clamped(1 - distance / equal);
}

/** The sum of float32 probabilities is 1 only within their precision, and clients compare it with 1. */
function normalized(probabilities: readonly number[]): readonly number[] {
  const sum = probabilities.reduce((total, probability) => total + probability, 0);
  if (sum === 0) return probabilities.map(() => 1 / probabilities.length);
  return probabilities.map((probability) => probability / sum);
}

function firstMaximum(values: readonly number[]): number {
  return values.indexOf(Math.max(...values));
}

function clamped(value: number): number {
  return Math.min(1, Math.max(0, value));
}
