/** The typed contract of the .node file: what native/addon exports. Nothing else may be relied on. */

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
  | 'INFERENCE_FAILED'
  | 'MODEL_LOAD_FAILED';

/** In which numbers a text model's linear layers multiply. */
export type Dtype = 'float32' | 'bfloat16x3' | 'bfloat16' | 'int8';

/** What is multiplied in bfloat16 where DTYPE leaves a choice; auto: a table of processors says. */
export type ProductNumbers = 'auto' | 'float32' | 'bfloat16';

/** How the engine may use the machine, and what a model may do. */
export interface SchedulingOptions {
  /** Default: float32. */
  readonly dtype?: Dtype;
  /** What is multiplied in bfloat16 where `dtype` leaves a choice. Default: auto, by the processor. */
  readonly products?: ProductNumbers;
  /** Inference threads, each running a batch of its own. Default: the cores granted to this process. */
  readonly workers: number;
  /** Intra-op (OpenMP) threads of each worker, that is cores that one batch may use. Default: 1. */
  readonly threadsPerWorker: number;
  /** Default: 512. */
  readonly maxBatchTokens: number;
  /** Default: 32. */
  readonly maxBatchRequests: number;
  /** How long a free worker may wait for more requests, in ms. Default: 0: it never waits. */
  readonly maxQueueDelayMs: number;
  /** Requests that may wait; more are refused with QUEUE_FULL. Default: 2048. */
  readonly maxQueueRequests: number;
  /**
   * The longest that the model may run on a batch, in ms; then its requests end with INFERENCE_TIMEOUT.
   * At load, the longest that it may take to try it. Default: 60000.
   */
  readonly inferenceTimeoutMs: number;
  /** What is expected to wait longer before it runs, in ms, is refused with WAIT_TOO_LONG. Default: 1000. */
  readonly maxQueueWaitMs: number;
  /**
   * MiB for the answers of all models of texts in this process, as the first says that wants any: equal
   * tokens get them again. Default: 0, none are kept.
   */
  readonly resultCacheMb?: number;
  /**
   * Of the workers' time beside other models that want it, too: one with 3 gets three times as much as one
   * with 1. From 0.001 to 1000. Default: 1.
   */
  readonly share?: number;
  /**
   * Operators that a program may use beside those that classifiers need, such as `aten::as_strided`: for
   * a file that you trust. Default: none.
   */
  readonly allowedOperators?: readonly string[];
}

/** How the rows of a text's tokens become one, by the names of sentence-transformers. */
export type PoolingMode =
  | 'cls'
  | 'max'
  | 'mean'
  | 'mean_sqrt_len_tokens'
  | 'weightedmean'
  | 'lasttoken';

/** What sentence-transformers lists behind an encoder. `weightFiles`: absolute paths, of this module alone. */
export type SentenceModule =
  | {
      readonly type: 'pooling';
      /** Several: their vectors side by side, in this order. */
      readonly modes: readonly PoolingMode[];
      /** false: tokens of the prompt are left out. */
      readonly includePrompt: boolean;
    }
  | {
      readonly type: 'dense';
      /** None: its weights are among those of the encoder, as `linear`. */
      readonly weightFiles: readonly string[];
      readonly inFeatures: number;
      readonly outFeatures: number;
      readonly bias: boolean;
      /** As config.json of transformers would name it: `tanh`; `linear` for none. */
      readonly activation: string;
      /** The input is added to the result, projected where their sizes differ. */
      readonly residual: boolean;
    }
  | {
      readonly type: 'layer-norm';
      readonly weightFiles: readonly string[];
      readonly dimension: number;
    }
  | { readonly type: 'normalize' };

/** What makes an answer of an encoder's states; every family of encoders has each. */
export type TextHead =
  /** One row of logits, `num_labels` of the configuration. */
  | { readonly name: 'sequence-classification' }
  /** Such a row for each token, special ones included. */
  | { readonly name: 'token-classification' }
  /** SPLADE, one row over the vocabulary: of each word the largest, or the sum, over all tokens. */
  | {
      readonly name: 'masked-lm';
      readonly pooling: 'max' | 'sum';
      /** Of a logit: log(1 + relu), or log(1 + log(1 + relu)). */
      readonly activation: 'relu' | 'log1p_relu';
    }
  /** One row, or without a pooling a row for each token, special ones included. */
  | { readonly name: 'embedding'; readonly modules: readonly SentenceModule[] };

/** How texts are read by a model of late interaction (ColBERT). */
export interface LateInteraction {
  /** Tokens that an input with `fills` is filled up to. */
  readonly filledLength?: number;
  /** With this one. Default: the tokenizer's mask token, else the one that ends a text. */
  readonly fillingToken?: string;
  /** The others attend to them. */
  readonly fillingIsSeen?: boolean;
  /** Tokens that have no row in the answer to an input with `skips`. */
  readonly skipped: readonly string[];
  /** Of texts, which are tokens of the vocabulary though text is normalized. */
  readonly prefixes: readonly string[];
}

/** A Hugging Face directory whose encoder has code of its own here, its files already found. */
export interface TextModelSource {
  readonly type: 'text-encoder';
  /** config.json's "model_type". */
  readonly modelType: string;
  /** config.json's entries, nested ones under their path (`layer_types.0`), and `num_labels`. */
  readonly config: Readonly<Record<string, string | number | boolean | null>>;
  readonly head: TextHead;
  /** Absolute paths: *.safetensors or *.bin, one file or every shard. */
  readonly weightFiles: readonly string[];
  /** Absolute path. */
  readonly tokenizerDirectory: string;
  /** Tokens, special ones included, where fewer than model and tokenizer take. */
  readonly maxLength?: number;
  /** For inputs with `fills` and `skips`. */
  readonly lateInteraction?: LateInteraction;
}

/**
 * A TorchScript or torch.export file that maps input_ids and attention_mask to logits, [texts, numLabels] or
 * [texts, tokens, numLabels], behind a tokenizer.
 */
export interface TextProgramSource {
  readonly type: 'text-program';
  /** Absolute path. */
  readonly path: string;
  readonly numLabels: number;
  /** Tokens, special ones included, that config.json allows. */
  readonly positionLimit: number;
  /** config.json's pad_token_id; absent: the tokenizer says. */
  readonly paddingId?: number;
  /** Logits are those of each token. */
  readonly ofTokens: boolean;
  /** Absolute path. */
  readonly tokenizerDirectory: string;
}

/** A TorchScript or torch.export file that maps n windows, float32, to n × the number of classes. */
export interface SignalProgramSource {
  readonly type: 'signal-program';
  /** Absolute path. */
  readonly path: string;
  /** Samples. */
  readonly windowLength: number;
  /** Of a window; its product is windowLength. Absent: as the file says, else [1, windowLength]. */
  readonly inputShape?: readonly number[];
}

export type ModelSource = TextModelSource | TextProgramSource | SignalProgramSource;

/**
 * What came of trying a signal model at load, on windows of noise and one of zeros, each alone:
 * nothing in its file says what it takes and gives.
 */
export interface ModelTrial {
  /** Raw model outputs of the windows that ran. */
  readonly outputs: readonly Float32Array[];
  /** Of the first window that did not; empty: all ran. */
  readonly error: string;
  /** The same window, tried again, had the same answer. */
  readonly repeatable: boolean;
}

/** What multiplies: where it and the model's files are the same, the answers are, to the last bit. */
export interface Products {
  /** Numbers and kernel of the linear layers: `bfloat16 amx`. */
  readonly linear: string;
  /** The same of attention; empty: it is LibTorch's. */
  readonly attention: string;
  /** That may be used: a value of the setting INSTRUCTIONS. */
  readonly instructions: string;
}

/** What a loaded model says of itself. */
export interface ModelDescription {
  readonly backend: string;
  /** Tokens of a text, special tokens included, or samples of a window. */
  readonly maxLength: number;
  /** 0: a signal model that could run no window of the trial. */
  readonly numOutputs: number;
  /** Ids of tokens are below it; 0: no text model of ours. */
  readonly vocabularySize: number;
  /** Whether requests may share a run. */
  readonly batching: boolean;
  /** Without outputs for a text model. */
  readonly trial: ModelTrial;
  readonly products: Products;
  /** For the log: why this processor is not used as it could be. */
  readonly warnings: readonly string[];
  /** Of a model whose tokens can be asked for their places. */
  readonly vocabulary?: {
    /** Tokens that go on with a word are marked as such, as WordPiece marks them. */
    readonly marksContinuedWords: boolean;
    /** Of the token for what the vocabulary does not have; null: there is none. */
    readonly unknownId: number | null;
  };
}

/** Counters since the engine started, and what waits now. */
export interface EngineStats {
  /** How many wait, and how many may wait. */
  readonly queueRequests: number;
  readonly queueRequestsLimit: number;
  /** The same of the bytes of their inputs. */
  readonly queueBytes: number;
  readonly queueBytesLimit: number;
  /** Expected until an input that comes now begins to run, in ms, and how long that may be. */
  readonly queueWaitMs: number;
  readonly queueWaitLimitMs: number;
  readonly completed: number;
  readonly failed: number;
  readonly refused: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly timedOut: number;
  /** Those that did not fit, and were not to be cut. */
  readonly tooLong: number;
  readonly batches: number;
  /** Texts that were answered without a run and, where there is a cache, those that were run. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Of the answers that are kept. */
  readonly cacheBytes: number;
}

/** The tokens of a text, or of two, as the model reads them, special ones included; window by window. */
export interface TokenPlaces {
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
  readonly places?: TokenPlaces;
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
  /** With what the text begins: its tokens have no part in a pooling whose `includePrompt` is false. */
  readonly prompt?: string;
  /** Tokens, special ones included, whatever the tokenizer says, up to what the model takes. */
  readonly maxTokens?: number;
  /** See `LateInteraction`. */
  readonly fills?: boolean;
  readonly skips?: boolean;
}

/** What a tokenizer has made of a text; as many types as ids. */
export type TokenInput = Pick<TokenPlaces, 'ids' | 'types'>;

/** A text, two of them, their tokens, or the samples of a window. */
export type NativeInput = string | TextInput | TokenInput | Float32Array;

export interface NativeEngine {
  readonly description: ModelDescription;
  /**
   * One input or a list of them, all or none; the tickets count up from the first. undefined:
   * accepted, a completion of each will come. timeoutMs 0: no deadline. Throws on a bad input.
   */
  submit(
    firstTicket: number,
    inputs: NativeInput | readonly NativeInput[],
    timeoutMs: number,
  ): NativeRefusal | undefined;
  /** What `submit` would say now of one small input; undefined: it would take it. */
  admission(timeoutMs: number): NativeRefusal | undefined;
  cancel(ticket: number): void;
  stats(): EngineStats;
  /** How long the model has been running on a batch that it was given up on, in ms; 0: there is none. */
  stuckMs(): number;
  /** Refuses new requests, and answers those that wait with DRAINING. */
  drop(): void;
  /**
   * Resolves when all that was accepted has been answered and every thread has ended, but for those
   * that the model was given up on. Attached: when all that was accepted from here has been answered.
   * An engine that is collected as garbage is closed in this way, too.
   */
  close(): Promise<void>;
  /** What an id stands for; empty: for nothing, or the model has no vocabulary. */
  token(id: number): string;
  /** The text that tokens stand for together. */
  join(tokens: readonly string[]): string;
  /** A number for `attach` in other threads of this process, until the engine is closed. */
  share(): number;
  /** From now on, see `SchedulingOptions.share`. */
  setShare(share: number): void;
}

/** A tensor that a program takes, in words: `float32`, `[1 to 64, 1, 256]`; empty: its file does not say. */
export interface ValueReport {
  readonly name: string;
  readonly type: string;
  readonly sizes: string;
}

export interface OperatorReport {
  readonly name: string;
  /** How often it stands in the code. */
  readonly count: number;
  /** Why a model that uses it is not loaded; empty: it may be used. */
  readonly problem: string;
}

/** What a program's file says, none of it run. */
export interface ProgramReport {
  readonly kind: string;
  /** `PyTorch 2.15.0`; empty: the file does not say. */
  readonly madeBy: string;
  readonly inputs: readonly ValueReport[];
  /** Names; empty: the file does not say. */
  readonly outputs: readonly string[];
  /** Numbers; what is tied counts once. */
  readonly weightCount: number;
  readonly weightBytes: number;
  readonly weightTypes: readonly string[];
  /** By name. */
  readonly operators: readonly OperatorReport[];
}

/** A pattern: a kind of data that is known here, or a regular expression of the Rust crate `regex`. */
export interface PatternSource {
  readonly isKind: boolean;
  readonly text: string;
}

/** Compiled patterns; opaque. */
export type NativePatterns = object;

/** Which forms of the parts are looked at, beside the parts themselves. */
export interface LookOptions {
  /** Without what is not seen, in NFKC, and with Latin letters for what looks like them. */
  readonly forms: boolean;
  /** What is written in base64, and once more in that; in tags and in variation selectors. */
  readonly decoded: boolean;
  /** All parts as one text. */
  readonly joined: boolean;
  /** Texts beside the parts themselves. */
  readonly mostViews: number;
  /** Places that are told. */
  readonly mostPlaces: number;
  /** 0: any. */
  readonly timeoutMs: number;
}

/** A text that was looked at: a part as it is, or a form of it. */
export interface NativeLook {
  /** What was done to it; empty: nothing, and what follows `part` is left out. */
  readonly view: string;
  /** Which part it is of; as many as there are: of all, one behind the other. */
  readonly part: number;
  readonly text?: string;
  /** Of each UTF-16 unit of the text where what it is made of begins, and ends. */
  readonly starts?: Uint32Array;
  readonly ends?: Uint32Array;
}

export interface NativeLooked {
  readonly looks: readonly NativeLook[];
  /** Pattern, look, start and end of each place, in UTF-16 units of the look. */
  readonly places: Uint32Array;
  /** Why not all patterns were looked for; empty: they were. */
  readonly left: '' | 'places' | 'time';
  /** There are more forms than `mostViews`. */
  readonly isCut: boolean;
}

export interface NativeBinding {
  readonly versions: { readonly libtorch: string; readonly tokenizers: string };
  /** onCompletions is called on the JS thread, once a batch. Rejects with a plain Error. */
  load(
    source: ModelSource,
    options: SchedulingOptions,
    onCompletions: (completions: readonly Completion[]) => void,
  ): Promise<NativeEngine>;
  /** An engine that another thread of this process has loaded. Throws where it is closed. */
  attach(number: number, onCompletions: (completions: readonly Completion[]) => void): NativeEngine;
  /** Another descriptor of the same file or socket. */
  duplicateDescriptor(descriptor: number): number;
  /**
   * Why a number format is of no use on this processor: its instructions are missing, or known to be
   * slower than float32. Empty: it is of use.
   */
  dtypeProblem(dtype: Dtype, products?: ProductNumbers): string;
  /** What is wrong with the environment variable INSTRUCTIONS on this machine; empty: nothing. */
  instructionsProblem(): string;
  /** The values of INSTRUCTIONS that this machine has, from the least to the most. */
  availableInstructions(): readonly string[];
  /** Of a TorchScript file or one of torch.export. Throws where it cannot be read. */
  inspectProgram(path: string, allowedOperators: readonly string[]): ProgramReport;
  /**
   * A JSON array for each row of finite numbers, one behind the other, each number with the fewest
   * decimals that give the same float32; where in the text each row ends.
   */
  rowsToJson(
    values: Float32Array,
    columns: number,
  ): Promise<{ readonly text: Buffer; readonly ends: Uint32Array }>;
  /** Rejects naming the first bad one by its place: `3: unclosed group`. */
  compilePatterns(sources: readonly PatternSource[]): Promise<NativePatterns>;
  /** Looks for all patterns in all parts, on a thread of its own. */
  look(
    patterns: NativePatterns,
    parts: readonly string[],
    options: LookOptions,
  ): Promise<NativeLooked>;
  /**
   * End every thread of this environment's engines and loads at once, answering nothing. One that
   * does not end within a second is left behind, and then the process ends without running what C
   * and C++ have registered for its exit.
   */
  stopAll(): void;
}
