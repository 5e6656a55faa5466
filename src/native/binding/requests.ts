/** Native binding: requests and their completions. */

/** Error codes of requests and model loads. src/serving/errors.ts maps them to HTTP statuses. */
export type EngineErrorCode =
  | 'QUEUE_FULL'
  | 'WAIT_TOO_LONG'
  | 'DEADLINE_TOO_CLOSE'
  | 'DRAINING'
  | 'DEADLINE_EXCEEDED'
  | 'CANCELLED'
  | 'INFERENCE_TIMEOUT'
  | 'INPUT_TOO_LONG'
  | 'LIST_TOO_LONG'
  | 'INFERENCE_FAILED'
  | 'MODEL_LOAD_FAILED';

/** Tokens of a text or text pair, including special tokens, window by window. */
export interface Tokenization {
  readonly ids: Uint32Array;
  /** Token type IDs [tokens]. */
  readonly types: Uint32Array;
  /**
   * Offsets [tokens, 2]: start and end in the text, in UTF-16 units (`onlyTokens`: bytes); 0 for
   * special tokens.
   */
  readonly offsets: Uint32Array;
  /** Source of each token: 0 special token, 1 text, 2 second text. */
  readonly texts: Uint32Array;
  /** Tokens per window. A text without windowing has a single window. */
  readonly lengths: Uint32Array;
}

/** Words of a text, and the windows of words that the model reads at once. */
export interface WordWindows {
  /** Start and end of each word in the text, in UTF-16 units. */
  readonly offsets: Uint32Array;
  /** First word of each window. No window: the text has no word. */
  readonly starts: Uint32Array;
  /** Number of words of each window. */
  readonly lengths: Uint32Array;
}

/** Tokens of the texts of a `TextListInput`. */
export interface TextListTokens {
  /** Number of tokens of all texts up to and including each text. */
  readonly ends: Uint32Array;
  /** 1: the text was truncated. */
  readonly truncated: Uint32Array;
}

/** Result of a request. */
export interface Inference {
  /** Raw model outputs, [rows, numOutputs]. */
  readonly values: Float32Array;
  /** 1, or the number of tokens. */
  readonly rows: number;
  /** Tokens after truncation, including special tokens; 1 for a signal window. */
  readonly tokens: number;
  /** The text was truncated. */
  readonly truncated: boolean;
  /** Requests in the batch; 0: no batch ran. */
  readonly batchSize: number;
  /**
   * Tokens of the whole batch, reported in a single request of the batch; 0 in all further
   * requests.
   */
  readonly batchTokens: number;
  readonly queueMs: number;
  /** Of all texts of a `TextListInput`. */
  readonly tokenizationMs: number;
  /** Duration of the whole batch, in ms. */
  readonly inferenceMs: number;
  /** Token offsets, if requested. */
  readonly places?: Tokenization;
  /** Words of an `EntityInput`. */
  readonly words?: WordWindows;
  /** Present for a `TextListInput`, which has a row for each text. */
  readonly list?: TextListTokens;
}

/** Result or error of a request. Only errors have a `code`. */
export type Completion =
  | (Inference & {
      readonly ticket: number;
      /** Number of texts of a `TextListInput`. Default: 1. */
      readonly count?: number;
      readonly code?: undefined;
    })
  | {
      readonly ticket: number;
      readonly count?: number;
      readonly code: EngineErrorCode;
      readonly message: string;
      /** Index of the text of a `TextListInput` that caused the error. Default: no single text. */
      readonly element?: number;
    };

/** Rejection by the queue. */
export interface NativeRefusal {
  readonly code: 'QUEUE_FULL' | 'WAIT_TOO_LONG' | 'DEADLINE_TOO_CLOSE' | 'DRAINING';
  /** Expected queue wait in ms. */
  readonly waitMs: number;
}

/** A text or text pair, with its truncation. */
export interface TextInput {
  readonly text: string;
  /**
   * Second text. An absent text, or an empty text without `isPair`, means no pair, as in
   * transformers.
   */
  readonly pair?: string;
  /** An empty second text is part of a pair, as in a list of pairs in transformers. */
  readonly isPair?: boolean;
  /**
   * Truncation strategy of transformers. Default: longest_first. With do_not_truncate, long inputs
   * fail with INPUT_TOO_LONG.
   */
  readonly truncation?: 'longest_first' | 'only_first' | 'only_second' | 'do_not_truncate';
  /** End at which tokens are removed. Default: as the tokenizer specifies. */
  readonly truncationSide?: 'left' | 'right';
  /** Whether the result contains the token offsets. */
  readonly places?: boolean;
  /**
   * Overlap of windows in tokens, requires `places`. The whole text is read in windows. For several
   * windows the native code only returns their tokens, and `Engine` submits them.
   */
  readonly stride?: number;
  /**
   * Maximum number of windows; further windows are truncated. Default: all, or INPUT_TOO_LONG if
   * too many.
   */
  readonly mostWindows?: number;
  /** Prefix of the text. Pooling with `includePrompt` false ignores its tokens. */
  readonly prompt?: string;
  /**
   * Maximum length in tokens, including special tokens. Replaces the limit of the tokenizer, not
   * of the model.
   */
  readonly maxTokens?: number;
  /**
   * Index of the task of `TaskAdapters` whose LoRA update applies. Default: its `defaultTask`. Inputs
   * of different tasks can be in one batch.
   */
  readonly adapterTask?: number;
  /** Pads and masks as `LateInteraction` specifies. */
  readonly fills?: boolean;
  readonly skips?: boolean;
  /**
   * Embeddings of bge-m3 that follow each other in one row: dense; number of sparse entries, then
   * ID and weight of each, without tokens that `skips` omits; vectors of all tokens except the
   * first. Default: dense. A masked language model returns one of them: dense, the mean of the
   * hidden states, or sparse. Default: sparse.
   */
  readonly parts?: { readonly dense: boolean; readonly sparse: boolean; readonly colbert: boolean };
  /**
   * The result contains the tokens of the whole text, with offsets in bytes of UTF-8, and the model
   * does not run. No limit applies, and fields except `text` and `omitSpecialTokens` have no
   * effect.
   */
  readonly onlyTokens?: boolean;
  /** With `onlyTokens`: the tokenizer adds no special tokens. */
  readonly omitSpecialTokens?: boolean;
  /** With `onlyTokens`: the words of gliner2, each tokenized alone, without special tokens. */
  readonly byWords?: boolean;
}

/** Tokenized text. `ids` and `types` have the same length. */
export interface TokenInput
  extends Pick<Tokenization, 'ids' | 'types'>,
    Pick<TextInput, 'skips' | 'parts' | 'adapterTask'> {
  /**
   * Positions of the tokens that stand for the options of a question, ascending. Required for the heads `laya`,
   * `gliclass` and `gliner2`, which return a row for each option.
   */
  readonly markers?: Uint32Array;
  /** Index of the type of the question, for the head `laya`. Default: 0. */
  readonly questionType?: number;
  /**
   * Position after the last option, if the options begin at the same position and do not attend to
   * each other. Default: 0, the options follow each other.
   */
  readonly optionsEnd?: number;
  /**
   * Tokens were removed to fit the limit of the model, see `Inference.truncated`. Default: false.
   */
  readonly truncated?: boolean;
}

/**
 * Consecutive parts of one text (late chunking). The model reads their concatenation, and returns a
 * row for each part: pooling averages its tokens. Special tokens before the text belong to the
 * first part, those after it to the last part. A part without tokens fails with INPUT_TOO_LONG.
 * Needs the head `embedding` with mean pooling.
 */
export interface ChunkInput extends Pick<TextInput, 'truncation' | 'prompt' | 'adapterTask'> {
  readonly chunks: readonly string[];
}

/** Texts of a list that are one request. Needs a model with `readsLists`. */
export interface TextListInput extends Pick<TextInput, 'truncation' | 'truncationSide'> {
  /** The texts, one after the other. */
  readonly text: string;
  /** End of each text in `text`, in bytes of UTF-8; at least one. */
  readonly ends: Uint32Array;
}

/**
 * A text, and labels of entities to find in it. Needs the head `gliner` or `gliner2`. The result has a row for each span:
 * first word, last word, index of the label, score. A text with several windows is not run: `words` says how to divide it.
 */
export interface EntityInput {
  readonly text: string;
  /** At least one. */
  readonly labels: readonly string[];
  /** Spans with a higher score are returned, of GLiNER2 also those with this score; from 0 to 1. */
  readonly threshold: number;
  /** Prompt before the labels, required for GLiNER2. */
  readonly task?: string;
}

/**
 * A text, a text pair, a list of texts, parts of a text, labels and a text, tokens, or the samples
 * of a signal window.
 */
export type NativeInput =
  | string
  | TextInput
  | TextListInput
  | ChunkInput
  | EntityInput
  | TokenInput
  | Float32Array;
