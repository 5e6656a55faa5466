import { type ChoiceInput, labelOf, type QuestionInput } from './question-input';
import type { QuestionResult } from './results';

interface Answered {
  /** Name of the question; null: it has none. */
  readonly name: string | null;
  /** Whether the state was truncated for this question. */
  readonly truncated: boolean;
  /** Index of the window of a long state that decided; absent if the state was read at once. */
  readonly window?: number;
  /** Probability that an agent should act on the answer. Only of Laya models. */
  readonly act_probability?: number;
}

export interface PredicateAnswer extends Answered {
  readonly type: 'predicate';
  /** Probability that the statement is true. */
  readonly probability: number;
}

export interface ChoiceAnswer extends Answered {
  readonly type: 'choice';
  /** Label of the most probable option. */
  readonly choice: string;
  /** From 0, equal probabilities, to 1, certain. */
  readonly confidence: number;
  /** In the order of the options. */
  readonly probabilities: readonly { readonly label: string; readonly probability: number }[];
}

export interface ScoreAnswer extends Answered {
  readonly type: 'score';
  /** Mean level, weighted with the probabilities. */
  readonly score: number;
  /** From 0, equal probabilities, to 1, certain. */
  readonly confidence: number;
  /** From level 0. */
  readonly probabilities: readonly number[];
}

/** Answer of POST /decide and of the JavaScript API. */
export type DecisionAnswer = PredicateAnswer | ChoiceAnswer | ScoreAnswer;

/**
 * The answer to a question.
 *
 * @param round applied to each number; default: numbers are not rounded
 */
export function toAnswer(
  question: QuestionInput,
  result: QuestionResult,
  round: (value: number) => number = (value) => value,
): DecisionAnswer {
  const { name = null } = question;
  const { isTruncated, window, actProbability } = result;
  const common = {
    truncated: isTruncated,
    ...(window !== undefined && { window }),
    ...(actProbability !== undefined && { act_probability: round(actProbability) }),
  };
  if (result.type === 'predicate') {
    return { name, type: 'predicate', probability: round(result.probability), ...common };
  }
  const confidence = round(result.confidence);
  const probabilities = result.probabilities.map(round);
  if (result.type === 'score') {
    const score = round(result.score);
    return { name, type: 'score', score, confidence, probabilities, ...common };
  }
  const labels = (question as ChoiceInput).options.map(labelOf);
  return {
    name,
    type: 'choice',
    choice: labels[result.choice] as string,
    confidence,
    probabilities: labels.map((label, index) => ({
      label,
      probability: probabilities[index] as number,
    })),
    ...common,
  };
}
