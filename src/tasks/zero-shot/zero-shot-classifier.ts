import type { EngineError, Inference, InferOptions } from '../../native/engine';
import type { ModelMetadata } from '../predictor';

export interface ZeroShotRequest {
  readonly texts: readonly string[];
  readonly labels: readonly string[];
  /** Template of a label, see `findTemplateProblem`. */
  readonly template: string;
  /** Whether each label is scored independently. Otherwise the scores sum to 1. */
  readonly isMultiLabel: boolean;
}

/** Labels of a text by descending score. */
export type ZeroShotResult = readonly { readonly label: string; readonly score: number }[];

export interface ZeroShotAnswers {
  /** Labels of each text. */
  readonly answers: readonly ZeroShotResult[];
  /** Whether each text was truncated. */
  readonly isTruncated: readonly boolean[];
  readonly inferences: readonly Inference[];
}

/** A loaded model that classifies texts with the labels of a request. */
export interface ZeroShotClassifier {
  readonly metadata: ModelMetadata;
  /** Maximum input length in tokens, including special tokens. */
  readonly maxLength: number;
  /**
   * @param request `template`: null: the default of the model
   * @throws EngineError; the index of INPUT_TOO_LONG refers to a label that leaves no tokens for the text
   */
  classifyLabels(
    request: Omit<ZeroShotRequest, 'template'> & { readonly template: string | null },
    options: InferOptions,
  ): Promise<ZeroShotAnswers>;
  /** See `Engine.admissionError`. */
  admissionError(timeoutMs: number): EngineError | null;
}
