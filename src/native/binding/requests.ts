/** Of the native binding: what an engine is asked, and how that ends. */

/** How a request, or a load, can fail. `errors.ts` maps each to an HTTP status. */
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

/** The tokens of a text, or of two, as the model reads them, special ones included; window by window. */
export interface Tokenization {
  readonly ids: Uint32Array;
  /** Token types, as many. */
  readonly types: Uint32Array;
  /** [tokens, 2]: begin and end of each in its text, in UTF-16 units; of special tokens 0. */
  readonly offsets: Uint32Array;
  /** Of each: 0: a special token, 1: of the text, 2: of the second one. */
  readonly texts: Uint32Array;
  /** Tokens of each window; of a text that was not cut into windows there is one. */
  readonly lengths: Uint32Array;
}

/** The answer to one request. */
export interface Inference {
  /** Raw model outputs, [rows, numOutputs]. */
  readonly values: Float32Array;
  /** 1, or one for each token. */
  readonly rows: number;
  /** Tokens of the texts as the model read them, special tokens included; 1 for a window. */
  readonly tokens: number;
  /** The texts were longer than the model's limit. */
  readonly truncated: boolean;
  /** Requests that shared the run; 0: there was none. */
  readonly batchSize: number;
  /** Of all of them, in one of them; 0 in the others, so that runs can be counted. */
  readonly batchTokens: number;
  readonly queueMs: number;
  readonly tokenizationMs: number;
  /** Of the whole batch. */
  readonly inferenceMs: number;
  /** Where they were asked for. */
  readonly places?: Tokenization;
}

/** How one request ended; `code` is absent for an answer. */
export type Completion =
  | (Inference & { readonly ticket: number; readonly code?: undefined })
  | { readonly ticket: number; readonly code: EngineErrorCode; readonly message: string };

/** Why the queue does not take what comes. */
export interface NativeRefusal {
  readonly code: 'QUEUE_FULL' | 'WAIT_TOO_LONG' | 'DEADLINE_TOO_CLOSE' | 'DRAINING';
  /** Expected until it would begin to run. */
  readonly waitMs: number;
}

/** One text or two (premise and hypothesis) as a text model reads them, and how they are cut where too long. */
export interface TextInput {
  readonly text: string;
  /** The second text; absent, or empty (as to transformers) and not `isPair`: there is one. */
  readonly pair?: string;
  /** The second text counts though it is empty, as to transformers in a list of pairs. */
  readonly isPair?: boolean;
  /** As in transformers. Default: longest_first. do_not_truncate: an input that is too long ends with INPUT_TOO_LONG. */
  readonly truncation?: 'longest_first' | 'only_first' | 'only_second' | 'do_not_truncate';
  /** From which end tokens are taken away. Default: the tokenizer's own. */
  readonly truncationSide?: 'left' | 'right';
  /** Whether the answer says where each token is. */
  readonly places?: boolean;
  /**
   * With `places`: not what fits is read, but all of one text, in windows that share so many tokens. Of
   * more than one window the native side answers the places alone; `Engine` runs them.
   */
  readonly stride?: number;
  /** Of the windows the first ones, with `truncated` if there are more. Default: all, or INPUT_TOO_LONG if too many. */
  readonly mostWindows?: number;
  /** With what the text begins: its tokens have no part in a pooling whose `includePrompt` is false. */
  readonly prompt?: string;
  /** Tokens, special ones included, whatever the tokenizer says, up to what the model takes. */
  readonly maxTokens?: number;
  /** See `LateInteraction`. */
  readonly fills?: boolean;
  readonly skips?: boolean;
}

/** What a tokenizer has made of a text; as many types as ids. */
export type TokenInput = Pick<Tokenization, 'ids' | 'types'>;

/** A text, two of them, their tokens, or the samples of a window. */
export type NativeInput = string | TextInput | TokenInput | Float32Array;
