import type { PromptSettings } from '../models/sentence-transformers/model';
import type { EngineError, Inference, InferOptions, TextInput, Vocabulary } from '../native/engine';
import type { HypothesisTemplates } from './decision/hypotheses';
import type { DecisionModel } from './decision/questions';
import type { EntityRecognizer } from './entity-recognition/entities';
import type { BatchPredictor, Capability, ModelMetadata, Prediction, Predictor } from './predictor';
import type { ModelSettings } from './signal-classification/model-settings';
import type { SignalInput } from './signal-classification/window-preparation';
import type { ViterbiDecoder } from './token-classification/viterbi';
import type { ZeroShotClassifier } from './zero-shot/zero-shot-classifier';

export * from './predictor';

/** Windowing of texts that are longer than the model allows. */
export interface LongTexts {
  /** Overlap of consecutive windows in tokens. */
  readonly stride: number;
  /** Combination of the scores of all windows. */
  readonly combine: 'mean' | 'max';
}

export interface ClassifierMetadata extends ModelMetadata {
  /** Default windowing of long texts; undefined: long texts are truncated. */
  readonly longTexts?: LongTexts;
  /** Hypotheses of an NLI model for decisions; undefined: the default templates. */
  readonly hypotheses?: HypothesisTemplates;
  /** Labels in the order of the model outputs. */
  readonly labels: readonly string[];
  /** Default decoding of entities; undefined: tokens are aggregated. Token classifiers only. */
  readonly viterbi?: ViterbiDecoder;
}

/** Window of a long text: the range [start, end) in UTF-16 units, and its scores. */
export interface ClassifiedWindow {
  readonly start: number;
  readonly end: number;
  /** Scores of all labels, in the order of `ClassifierMetadata.labels`. */
  readonly scores: Float32Array;
}

/** Prediction of a classifier for one input. */
export interface Classification extends Prediction {
  /** Label with the highest score. */
  readonly label: string;
  /** Highest score: a float32 widened to a double, not rounded. */
  readonly score: number;
  /** Scores of all labels, in the order of `ClassifierMetadata.labels`. */
  readonly scores: Float32Array;
  /** Channels of a signal that are computed from others; undefined: none, or a model of one channel. */
  readonly interpolated?: readonly string[];
  /** Windows of a long text, if windowing was requested. `scores` combines their scores. */
  readonly windows?: readonly ClassifiedWindow[];
}

/** A text, with the windowing of long texts. */
export interface TokenClassificationInput {
  readonly text: string;
  /** Overlap of the windows in tokens. Default: long texts are truncated. */
  readonly stride?: number;
  /** Window length in tokens, including special tokens. Default and maximum: the limit of the model. */
  readonly maxTokens?: number;
}

/** Prediction of a token classifier for one text. */
export interface TokenClassification extends Prediction {
  readonly text: string;
  /** [tokens, labels], including special tokens, in the token order of `inference.places`. */
  readonly scores: Float32Array;
}

export type TokenClassifier = Predictor<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
>;
export type TextClassifier = Predictor<string | TextInput, Classification, ClassifierMetadata>;
/** Metadata of a signal model. Its labels are the classes of the settings. */
export interface SignalMetadata extends ClassifierMetadata {
  readonly settings: ModelSettings;
}

/** Classifier of signal windows: `maxLength` finite samples. Models of one channel take any linear unit. */
export type SignalClassifier = Predictor<SignalInput, Classification, SignalMetadata> &
  BatchPredictor<SignalInput, Classification>;

/** Prediction of a cross-encoder for a query and a document. */
export interface PairScore extends Prediction {
  /** Scores of all labels after the activation function. Rerankers have a single label. */
  readonly scores: Float32Array;
}

/** Cross-encoder: scores the relevance of a document (`pair`) for a query (`text`). Both can be empty. */
export type PairScorer = Predictor<TextInput, PairScore, ClassifierMetadata>;

/** Metadata of a natural language inference model: pairs of premise and hypothesis. */
export interface EntailmentMetadata extends ClassifierMetadata {
  /** Index of the output "the premise entails the hypothesis". */
  readonly entailment: number;
  /** Index of the output "the premise contradicts the hypothesis". */
  readonly contradiction: number;
}

export type EntailmentClassifier = Predictor<
  string | TextInput,
  Classification,
  EntailmentMetadata
>;

/** Metadata of an embedding model. */
export interface EmbeddingMetadata extends ModelMetadata, PromptSettings {
  /** Size of all model files in bytes; undefined: unknown. */
  readonly fileBytes?: number;
  readonly dimensions: number;
  /** The files describe an encoder without pooling. */
  readonly isBareEncoder: boolean;
  /** Embeddings are L2-normalized. */
  readonly normalizes: boolean;
  /** Pooling modes of sentence-transformers. The results of several modes are concatenated. */
  readonly pooling: readonly string[];
  /** The model supports late chunking: an encoder with weights whose only pooling mode is the mean. */
  readonly poolsChunks: boolean;
  /** The model also has sparse and ColBERT embeddings (bge-m3). */
  readonly isMulti: boolean;
  /** Similarity function of the model. */
  readonly similarity: 'cosine' | 'dot' | 'euclidean' | 'manhattan';
}

/** A text to embed. */
export interface EmbeddingText
  extends Pick<TextInput, 'truncation' | 'truncationSide' | 'maxTokens' | 'adapterTask'> {
  readonly text: string;
  /** Text that is prepended. Default: the default prompt of the model. */
  readonly prompt?: string;
  /** Name of the prompt. Some models process a "query" and a "document" differently. */
  readonly promptName?: string;
}

/** A text, or token IDs including special tokens. Token IDs are never truncated. */
export type EmbeddingInput =
  | EmbeddingText
  | ({ readonly ids: Uint32Array } & Pick<TextInput, 'adapterTask'>);

export interface Embedding extends Prediction {
  readonly vector: Float32Array;
}

export type TextEmbedder = Predictor<EmbeddingInput, Embedding, EmbeddingMetadata>;

/** Metadata of a sparse embedding model. */
export interface SparseEmbeddingMetadata extends ModelMetadata, PromptSettings {
  readonly vocabularySize: number;
  /** The files describe a masked language model without SPLADE pooling. It also has dense embeddings. */
  readonly isBareEncoder: boolean;
  /** Hidden size of the encoder; 0: unknown. */
  readonly hiddenSize: number;
}

export interface SparseEmbedding extends Prediction {
  /** Weights by token ID. Most weights are 0. */
  readonly weights: Float32Array;
}

export type SparseEmbedder = Predictor<EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata>;

/** Metadata of a token embedding model. */
export interface TokenEmbeddingMetadata extends ModelMetadata, PromptSettings {
  readonly dimensions: number;
  /** Engine options of a text by its role; null: the model ignores the role. */
  readonly roles: Readonly<
    Record<'query' | 'document' | 'text', Pick<TextInput, 'maxTokens' | 'fills' | 'skips'>>
  > | null;
}

export interface TokenEmbeddings extends Prediction {
  /** Embedding of each token, including special tokens. */
  readonly vectors: readonly Float32Array[];
}

export type TokenEmbedder = Predictor<EmbeddingInput, TokenEmbeddings, TokenEmbeddingMetadata>;

/** Kinds of embeddings of bge-m3. */
export interface Parts {
  readonly dense: boolean;
  readonly sparse: boolean;
  readonly colbert: boolean;
}

/** Entries of a sparse embedding above 0, by ascending token ID. */
export interface SparseEntries {
  readonly ids: Uint32Array;
  readonly values: Float32Array;
}

/** A text, and the embeddings to return. */
export type MultiEmbeddingInput = EmbeddingInput & {
  readonly parts: Parts;
  /** Maximum length in tokens, including special tokens. Default: the limit of the model. */
  readonly maxTokens?: number;
};

/** Embeddings of bge-m3; null: not requested. */
export interface MultiEmbedding extends Prediction {
  readonly dense: Float32Array | null;
  readonly sparse: SparseEntries | null;
  /** Vectors of all tokens except the first. */
  readonly colbert: readonly Float32Array[] | null;
}

export type MultiEmbedder = Predictor<MultiEmbeddingInput, MultiEmbedding, EmbeddingMetadata>;

/** Tokenizer of a text model of any task. */
export interface TextTokenizer {
  readonly metadata: ModelMetadata & Partial<PromptSettings>;
  /** Maximum input length of the model in tokens, including special tokens. */
  readonly maxLength: number;
  readonly vocabulary: Vocabulary | null;
  /**
   * Tokenizes whole texts on the tokenization threads, as one request to the queue. The model does not run.
   *
   * @returns inferences with `places`, whose offsets are in bytes of UTF-8
   * @throws EngineError; see `Engine.inferAll`
   */
  tokenize(
    texts: readonly string[],
    addSpecialTokens: boolean,
    options: InferOptions,
  ): Promise<readonly Inference[]>;
  /** See `Engine.decode`. */
  decode(
    lists: readonly (readonly number[])[],
    skipSpecialTokens: boolean,
  ): Promise<readonly (string | number)[]>;
  /** See `Engine.admissionError`. */
  admissionError(timeoutMs: number): EngineError | null;
}

/** Interfaces of loaded models by capability. */
export interface Capabilities extends Record<Capability, unknown> {
  readonly embedding: TextEmbedder;
  readonly 'token-embedding': TokenEmbedder;
  readonly 'sparse-embedding': SparseEmbedder;
  readonly 'multi-embedding': MultiEmbedder;
  readonly 'text-classification': TextClassifier;
  readonly 'token-classification': TokenClassifier;
  readonly 'signal-classification': SignalClassifier;
  readonly reranking: PairScorer;
  readonly 'zero-shot': ZeroShotClassifier;
  readonly decision: DecisionModel;
  readonly 'entity-recognition': EntityRecognizer;
  /** Every text model has it, whatever its task. */
  readonly tokenization: TextTokenizer;
}

export type { PromptSettings as Prompted } from '../models/sentence-transformers/model';
