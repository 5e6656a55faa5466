import type { PromptSettings } from '../models/sentence-transformers/model';
import type {
  EngineError,
  EngineMonitor,
  Inference,
  InferOptions,
  NativeInput,
  TextInput,
  Vocabulary,
} from '../native/engine';

/** What is known of a model from its files; goes to other threads as it is. */
export interface ModelMetadata {
  /** As its files have it; null: they do not say. */
  readonly name: string | null;
  readonly version: string | null;
}

/** How a text longer than the model takes is read whole. */
export interface LongTexts {
  /** Tokens that a window shares with the one before. */
  readonly stride: number;
  /** How the scores of windows become those of their text. */
  readonly combine: 'mean' | 'max';
}

/** The same of a classifier. */
export interface ClassifierMetadata extends ModelMetadata {
  /** What becomes of long texts where nobody says; left out: they are cut. */
  readonly longTexts?: LongTexts;
  /** Names of the model's outputs, in order. */
  readonly labels: readonly string[];
}

/** A loaded model as protocols see it, whatever its task is called. */
export interface Predictor<Input, Answer, Metadata extends ModelMetadata = ModelMetadata> {
  readonly metadata: Metadata;
  /** The longest input: tokens of a text, special tokens included, or samples of a window. */
  readonly maxLength: number;
  readonly monitor: EngineMonitor;
  /** Of its tokens; null: of a model that reads none, or a program. */
  readonly vocabulary: Vocabulary | null;
  /** @throws EngineError: INPUT_TOO_LONG where a text is not to be cut as it would have to be */
  run(input: Input, options: InferOptions): Promise<Answer>;
  /**
   * @returns in the order of the inputs
   * @throws EngineError; see `Engine.inferAll`
   */
  runAll(inputs: readonly Input[], options: InferOptions): Promise<readonly Answer[]>;
  /** See `Engine.refusal`. */
  admissionError(timeoutMs: number): EngineError | null;
}

/** Is told of an inference when it ends: once, by one of both. */
export interface InferenceCallbacks {
  resolve(inference: Inference): void;
  reject(error: EngineError): void;
}

/** A model that is asked thousands of times a second by few: what a promise for each would cost matters. */
export interface BatchPredictor<Input, Answer> {
  /** What the engine is given for an input, which may be overwritten from then on. */
  prepare(input: Input): NativeInput;
  /**
   * Inputs that are taken all or none, and of which each ends by itself.
   *
   * @throws EngineError where they are refused: nobody is told then
   */
  runEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    waiting: readonly InferenceCallbacks[],
  ): void;
  /** @throws EngineError INFERENCE_FAILED: the outputs are no answer */
  toPrediction(inference: Inference, input: Input): Answer;
}

/** What a model says of one input. */
export interface Prediction {
  readonly inference: Inference;
}

/** A part of a long text that was classified by itself: from `start` to `end`, in UTF-16 units. */
export interface ClassifiedWindow {
  readonly start: number;
  readonly end: number;
  /** As those of a `Classification`. */
  readonly scores: Float32Array;
}

/** The answer of a classifier to one input. */
export interface Classification extends Prediction {
  /** The one with the highest score. */
  readonly label: string;
  /** Of the label: the double that a float32 widens to, not rounded. */
  readonly score: number;
  /** Of all labels, in the order of `ClassifierAbout.labels`. */
  readonly scores: Float32Array;
  /** Of a text that was read whole, with places; scores are their mean. */
  readonly windows?: readonly ClassifiedWindow[];
}

/** A text, and how it is read where it is longer than the model takes. */
export interface TokenClassificationInput {
  readonly text: string;
  /** All of it, in windows that share so many tokens. Default: it is cut. */
  readonly stride?: number;
  /** Tokens of a window, special ones included, up to what the model takes. Default: that. */
  readonly maxTokens?: number;
}

/** The answer of a token classifier to one text. */
export interface TokenClassification extends Prediction {
  /** That was tagged. */
  readonly text: string;
  /** [tokens, labels], special tokens included, window by window as `inference.places` has them. */
  readonly scores: Float32Array;
}

export type TokenClassifier = Predictor<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
>;
export type TextClassifier = Predictor<string | TextInput, Classification, ClassifierMetadata>;
/** A window: `maxLength` finite values in any linear unit. */
export type SignalClassifier = Predictor<readonly number[], Classification, ClassifierMetadata> &
  BatchPredictor<readonly number[], Classification>;

/** The answer of a cross-encoder to a query and a document. */
export interface PairScore extends Prediction {
  /** Of each label, as the model's activation makes them: of a model that ranks one. */
  readonly scores: Float32Array;
}

/** A query (`text`) and a document (`pair`), which may be empty, to how well they belong together. */
export type PairScorer = Predictor<TextInput, PairScore, ClassifierMetadata>;

/** What is known of a classifier of pairs, premise and hypothesis. */
export interface EntailmentMetadata extends ClassifierMetadata {
  /** Of the outputs, that the premise entails the hypothesis, and that it contradicts it. */
  readonly entailment: number;
  readonly contradiction: number;
}

export type EntailmentClassifier = Predictor<
  string | TextInput,
  Classification,
  EntailmentMetadata
>;

/** What is known of a model of vectors. */
export interface EmbeddingMetadata extends ModelMetadata, PromptSettings {
  /** Numbers of a vector. */
  readonly dimensions: number;
  /** Its files are those of an encoder alone, and say nothing of vectors. */
  readonly isBareEncoder: boolean;
  /** Vectors have a length of 1. */
  readonly normalizes: boolean;
  /** Names of sentence-transformers; several: their vectors side by side. */
  readonly pooling: readonly string[];
  /** How vectors are compared. */
  readonly similarity: 'cosine' | 'dot' | 'euclidean' | 'manhattan';
}

/** A text, or the ids of the model's own tokens, special ones included: they are not cut. */
export type EmbeddingInput =
  | (Pick<TextInput, 'truncation' | 'truncationSide'> & {
      readonly text: string;
      /** Put before it. Default: the model's own. */
      readonly prompt?: string;
      /** What the model calls it: some read a "query" otherwise than a "document". */
      readonly promptName?: string;
    })
  | { readonly ids: Uint32Array };

export interface Embedding extends Prediction {
  readonly vector: Float32Array;
}

export type TextEmbedder = Predictor<EmbeddingInput, Embedding, EmbeddingMetadata>;

/** What is known of a model of weights of words. */
export interface SparseEmbeddingMetadata extends ModelMetadata, PromptSettings {
  readonly vocabularySize: number;
  /** Its files are those of a masked language model, and say nothing of weights. */
  readonly isBareEncoder: boolean;
}

export interface SparseEmbedding extends Prediction {
  /** By the id of each word of the vocabulary; most are 0. */
  readonly weights: Float32Array;
}

export type SparseEmbedder = Predictor<EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata>;

/** What is known of a model of a vector for each token. */
export interface TokenEmbeddingMetadata extends ModelMetadata, PromptSettings {
  /** Numbers of a vector. */
  readonly dimensions: number;
  /** What the engine is told of a text beside, by what it is; null: it reads all alike. */
  readonly roles: Readonly<
    Record<'query' | 'document' | 'text', Pick<TextInput, 'maxTokens' | 'fills' | 'skips'>>
  > | null;
}

export interface TokenEmbeddings extends Prediction {
  /** Of each token, special ones included. */
  readonly vectors: readonly Float32Array[];
}

export type TokenEmbedder = Predictor<EmbeddingInput, TokenEmbeddings, TokenEmbeddingMetadata>;

/** What a protocol can ask for. */
export interface Capabilities {
  readonly embedding: TextEmbedder;
  readonly 'token-embedding': TokenEmbedder;
  readonly 'sparse-embedding': SparseEmbedder;
  readonly 'text-classification': TextClassifier;
  readonly 'token-classification': TokenClassifier;
  readonly 'signal-classification': SignalClassifier;
  readonly reranking: PairScorer;
  readonly 'zero-shot': EntailmentClassifier;
}

export type Capability = keyof Capabilities;

export type { PromptSettings as Prompted } from '../models/sentence-transformers/model';
