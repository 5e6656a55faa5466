import type { EngineError, Inference, InferOptions } from '../../native/engine';
import type { ModelMetadata } from '../predictor';

/** Whether a statement about the state is true. */
export interface PredicateQuestion {
  readonly type: 'predicate';
  /** null: the criteria are the statement. */
  readonly instructions: string | null;
  /** When the statement is true or false; null: the instructions say it. */
  readonly criteria: { readonly true: string | null; readonly false: string | null };
}

/** Which of several options describes the state. */
export interface ChoiceQuestion {
  readonly type: 'choice';
  readonly instructions: string | null;
  /** At least one. Labels are unique as a rule; answers refer to options by their index. */
  readonly options: readonly { readonly label: string; readonly description: string | null }[];
}

/** Which level of an ordered scale describes the state. */
export interface ScoreQuestion {
  readonly type: 'score';
  readonly instructions: string | null;
  /** Descriptions of the levels, from level 0. At least one. null: the level has no description. */
  readonly levels: readonly (string | null)[];
}

export type Question = PredicateQuestion | ChoiceQuestion | ScoreQuestion;

export interface DecisionRequest {
  /** The text that the questions are about. */
  readonly state: string;
  /** End of the state that is removed if it is too long. */
  readonly truncationSide: 'left' | 'right';
  /** At least one. */
  readonly questions: readonly Question[];
  /** Read a long state in overlapping windows instead of truncating it. Only if `readsWindows`. */
  readonly inWindows?: boolean;
}

/** Probabilities of a question, before rounding. */
export interface QuestionAnswer {
  /**
   * Probability of each option or level, in the order of the question. Of a predicate: of false, then of true. The sum
   * is 1.
   */
  readonly probabilities: readonly number[];
  /** The state was too long for this question and was truncated. */
  readonly isTruncated: boolean;
  /** Probability that an agent should act on the answer (Laya); undefined: the model has no such output. */
  readonly actProbability?: number;
  /** Index of the window of a long state that decided; undefined: the state was read at once. */
  readonly window?: number;
}

/** Answers in the order of the questions. */
export interface Decision {
  readonly answers: readonly QuestionAnswer[];
  /** Of all sequences that the model read, for usage and metrics. */
  readonly inferences: readonly Inference[];
}

/** A loaded model that answers typed questions about a text. */
export interface DecisionModel {
  readonly metadata: ModelMetadata;
  /** Whether it can read long states in windows. */
  readonly readsWindows: boolean;
  /**
   * Answers all questions of a request. The state is tokenized once, and all sequences are one request to the queue.
   *
   * @throws EngineError; INPUT_TOO_LONG with the `index` of a question whose options leave no tokens for the state
   */
  decide(request: DecisionRequest, options: InferOptions): Promise<Decision>;
  /** See `Engine.admissionError`. */
  admissionError(timeoutMs: number): EngineError | null;
}
