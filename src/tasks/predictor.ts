import type {
  EngineError,
  EngineMonitor,
  Inference,
  InferOptions,
  NativeInput,
  Vocabulary,
} from '../native/engine';
import type { DecisionTemperatures } from './calibration/decision-calibration';

/** Names of all capabilities. */
export const CAPABILITIES = [
  'text-classification',
  'token-classification',
  'signal-classification',
  'embedding',
  'sparse-embedding',
  'token-embedding',
  'multi-embedding',
  'reranking',
  'zero-shot',
  'decision',
  'entity-recognition',
  'tokenization',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Contents of the model files. Can be sent to other threads by structured clone. */
export interface ModelMetadata {
  /** null: the files specify no name. */
  readonly name: string | null;
  readonly version: string | null;
  /** `model_type` of config.json; undefined: no config.json. */
  readonly modelType?: string;
  /** Abilities that model.json allows; undefined: all that the model has. */
  readonly abilities?: readonly Capability[];
  /** Calibration of decisions; undefined: none. */
  readonly decisionTemperatures?: DecisionTemperatures;
}

/** Interface of a loaded model for protocols, independent of its task. */
export interface Predictor<Input, Answer, Metadata extends ModelMetadata = ModelMetadata> {
  readonly metadata: Metadata;
  /** Maximum input length: tokens of a text, including special tokens, or samples of a window. */
  readonly maxLength: number;
  readonly monitor: EngineMonitor;
  /** null: signal model, or text model from a program. */
  readonly vocabulary: Vocabulary | null;
  /** @throws EngineError: INPUT_TOO_LONG if a text is too long and truncation is off */
  run(input: Input, options: InferOptions): Promise<Answer>;
  /**
   * @returns predictions in the order of the inputs
   * @throws EngineError; see `Engine.inferAll`
   */
  runAll(inputs: readonly Input[], options: InferOptions): Promise<readonly Answer[]>;
  /** See `Engine.admissionError`. */
  admissionError(timeoutMs: number): EngineError | null;
}

/** Callbacks of an inference. Exactly one of them is called, once. */
export interface InferenceCallbacks {
  resolve(inference: Inference): void;
  reject(error: EngineError): void;
}

/** Interface for thousands of inferences per second from few clients. It avoids a promise per inference. */
export interface BatchPredictor<Input, Answer> {
  /** Converts an input to the input of the engine. The caller can overwrite the input afterwards. */
  prepare(input: Input): NativeInput;
  /**
   * See `Engine.inferEach`.
   *
   * @throws EngineError if the list is rejected; no callback is called
   */
  runEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    callbacks: readonly InferenceCallbacks[],
  ): void;
  /** @throws EngineError INFERENCE_FAILED: the outputs are invalid */
  toPrediction(inference: Inference, input: Input): Answer;
}

/** Prediction for one input. */
export interface Prediction {
  readonly inference: Inference;
}
