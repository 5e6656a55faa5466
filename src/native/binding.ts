/** Types of the addon's exports, implemented in native/node. */

import type { ProgramReport } from './binding/programs';
import type { Completion, NativeInput, NativeRefusal } from './binding/requests';
import type {
  ExpressionLimits,
  NativeExpressionMatches,
  NativeExpressions,
  NativePatterns,
  NativeScan,
  PatternSource,
  ScanOptions,
} from './binding/scan';
import type { ModelSource } from './binding/sources';

export type * from './binding/heads';
export type * from './binding/programs';
export type * from './binding/requests';
export type * from './binding/scan';
export type * from './binding/sources';

/** Number format of the linear layers of text models. */
export type Dtype = 'float32' | 'bfloat16' | 'int8' | 'int8-vnni';

/** Number format of attention; auto: chosen by processor model. */
export type ProductNumbers = 'auto' | 'float32' | 'bfloat16';

/** Resources of the engine, and limits for models. */
export interface SchedulingOptions {
  /** Default: float32. */
  readonly dtype?: Dtype;
  /** Default: auto. */
  readonly attentionDtype?: ProductNumbers;
  /** Inference threads; each runs a batch at a time. Default: cores available to this process. */
  readonly workers: number;
  /** Intra-op (OpenMP) threads per worker. Default: 1. */
  readonly threadsPerWorker: number;
  /** Default: 512. */
  readonly maxBatchTokens: number;
  /** Default: 32. */
  readonly maxBatchRequests: number;
  /** Maximum time that an idle worker waits for further requests of a batch, in ms. Default: 0. */
  readonly maxQueueDelayMs: number;
  /** Queue capacity in requests; further requests are rejected with QUEUE_FULL. Default: 2048. */
  readonly maxQueueRequests: number;
  /**
   * Maximum duration of a batch in ms; then its requests fail with INFERENCE_TIMEOUT. Also limits the trial run
   * at load. Default: 60000.
   */
  readonly inferenceTimeoutMs: number;
  /** Maximum expected queue wait in ms; further requests are rejected with WAIT_TOO_LONG. Default: 1000. */
  readonly maxQueueWaitMs: number;
  /**
   * Size of the result cache of all text models in this process, in MiB. The first model with a cache sets the size.
   * Inputs with equal tokens share a result. Default: 0, no cache.
   */
  readonly resultCacheMb?: number;
  /**
   * Weight of the model in weighted fair queueing, from 0.001 to 1000. A model with weight 3 gets three times the
   * worker time of a model with weight 1. Default: 1.
   */
  readonly weight?: number;
  /**
   * Additional allowed operators of programs, such as `aten::as_strided`. Only for trusted files. Default: none.
   */
  readonly allowedOperators?: readonly string[];
}

/**
 * Result of the trial run of a signal model at load, on windows of noise and a window of zeros. Program files do
 * not describe their inputs and outputs.
 */
export interface ModelTrial {
  /** Raw outputs of the successful windows. */
  readonly outputs: readonly Float32Array[];
  /** Error of the first failed window; empty: no window failed. */
  readonly error: string;
  /** Whether a repeated window gave the same outputs. */
  readonly repeatable: boolean;
}

/** Kernels of matrix multiplications. Equal kernels and model files give bitwise identical results. */
export interface Products {
  /** Number format and kernel of linear layers, such as `int8 avx512-vnni`. */
  readonly linear: string;
  /** Number format and kernel of attention; empty: kernel of LibTorch. */
  readonly attention: string;
  /** Allowed instruction set: a value of the setting INSTRUCTION_SET. */
  readonly instructions: string;
}

/** Properties of a loaded model. */
export interface ModelDescription {
  readonly backend: string;
  /** Maximum input length: tokens including special tokens, or samples of a window. */
  readonly maxLength: number;
  /** 0: signal model whose trial run failed. */
  readonly numOutputs: number;
  /** Token IDs are below this size; 0: no natively implemented text model. */
  readonly vocabularySize: number;
  /** Whether requests can share a batch. */
  readonly batching: boolean;
  /** Whether an input can be a `TextListInput`; false while results are cached. */
  readonly readsLists: boolean;
  /** Trial run; has no outputs for text models. */
  readonly trial: ModelTrial;
  readonly products: Products;
  /** Warnings for the log about unused features of the processor. */
  readonly warnings: readonly string[];
  /** Present if the model supports token offsets. */
  readonly vocabulary?: {
    /** Whether continuation tokens are marked, as with `##` in WordPiece. */
    readonly marksContinuedWords: boolean;
    /** ID of the unknown token; null: no unknown token. */
    readonly unknownId: number | null;
  };
}

/** Counters since the engine started, and the state of the queue. */
export interface EngineStats {
  /** Queued requests and queue capacity. */
  readonly queueRequests: number;
  readonly queueRequestsLimit: number;
  /** Bytes of queued inputs and their limit. */
  readonly queueBytes: number;
  readonly queueBytesLimit: number;
  /** Expected queue wait of a new input and its limit, in ms. */
  readonly queueWaitMs: number;
  readonly queueWaitLimitMs: number;
  readonly completed: number;
  readonly failed: number;
  readonly refused: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly timedOut: number;
  /** Inputs over the maximum length without truncation. */
  readonly tooLong: number;
  readonly batches: number;
  /** Texts whose hidden states an encoder shared with other models had already computed. */
  readonly reusedStates: number;
  /** Cache hits and cache misses in texts; 0 without a cache. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Size of the cached results. */
  readonly cacheBytes: number;
}

export interface NativeEngine {
  readonly description: ModelDescription;
  /**
   * Submits an input or a list. The queue accepts all inputs or rejects the list. Tickets are consecutive.
   * Returns undefined if accepted: each input gets a completion. timeoutMs 0: no deadline. maxOutputs: maximum
   * number of outputs of all inputs, for outputs per token (INPUT_TOO_LONG); default: no limit. Throws for an
   * invalid input.
   */
  submit(
    firstTicket: number,
    inputs: NativeInput | readonly NativeInput[],
    timeoutMs: number,
    maxOutputs?: number,
  ): NativeRefusal | undefined;
  /** Result that `submit` would return now for a small input. */
  admission(timeoutMs: number): NativeRefusal | undefined;
  cancel(ticket: number): void;
  stats(): EngineStats;
  /** Time that an abandoned batch has been running, in ms; 0: no batch is abandoned. */
  stuckMs(): number;
  /** Rejects new requests and fails queued requests with DRAINING. */
  drop(): void;
  /**
   * Resolves when all accepted requests are complete and all threads have ended, except abandoned threads.
   * Garbage collection also closes an engine. The model is freed even if this object still exists. An abandoned
   * batch keeps the model until the batch returns.
   */
  close(): Promise<void>;
  /** Token of an ID; empty: unknown ID, or no vocabulary. Throws after the model is closed. */
  token(id: number): string;
  /** Decodes tokens to text. Throws after the model is closed. */
  join(tokens: readonly string[]): string;
  /**
   * Decodes lists of token IDs on a native thread. `ends`: end of each list in `ids`. Each result is a text, or the
   * index of the first unknown ID within the list. Throws after the model is closed.
   */
  decode(
    ids: Uint32Array,
    ends: Uint32Array,
    skipSpecialTokens: boolean,
  ): Promise<readonly (string | number)[]>;
  /** See `SchedulingOptions.weight`. */
  setWeight(weight: number): void;
}

export interface NativeBinding {
  readonly versions: { readonly libtorch: string; readonly tokenizers: string };
  /** Calls onCompletions on the JavaScript thread, once per batch. Rejects with a plain Error. */
  load(
    source: ModelSource,
    options: SchedulingOptions,
    onCompletions: (completions: readonly Completion[]) => void,
  ): Promise<NativeEngine>;
  /**
   * Why this processor does not support a number format: its instructions are missing, or slower than float32.
   * Empty: it is supported.
   */
  dtypeProblem(dtype: Dtype, attentionDtype?: ProductNumbers): string;
  /** Problem with the environment variable INSTRUCTION_SET on this machine; empty: no problem. */
  instructionsProblem(): string;
  /** Values of INSTRUCTION_SET that this machine supports, ascending. */
  availableInstructions(): readonly string[];
  /** Describes a TorchScript or torch.export file. Throws if the file cannot be read. */
  inspectProgram(path: string, allowedOperators: readonly string[]): ProgramReport;
  /**
   * Serializes rows of finite numbers as concatenated JSON arrays, each number with the fewest digits that parse to
   * the same float32. `ends`: end of each row in the text.
   */
  rowsToJson(
    values: Float32Array,
    columns: number,
  ): Promise<{ readonly text: Buffer; readonly ends: Uint32Array }>;
  /** Rejects with the index and the error of the first invalid pattern: `3: unclosed group`. */
  compilePatterns(sources: readonly PatternSource[]): Promise<NativePatterns>;
  /** Frees the patterns after the calls of scan() in progress. Further calls have no effect. */
  closePatterns(patterns: NativePatterns): Promise<void>;
  /** Searches parts and their variants for all patterns, on a native thread. Throws after closePatterns(). */
  scan(
    patterns: NativePatterns,
    parts: readonly string[],
    options: ScanOptions,
  ): Promise<NativeScan>;
  /** Rejects like `compilePatterns`. Syntax: Rust crate `fancy-regex`. */
  compileExpressions(patterns: readonly string[]): Promise<NativeExpressions>;
  /** Finds all matches of each expression, on a native thread. */
  findExpressions(
    expressions: NativeExpressions,
    text: string,
    options: ExpressionLimits,
  ): Promise<NativeExpressionMatches>;
  /**
   * Ends all threads of the engines and loads of this environment without completions. If a thread does not end
   * within a second, the process exits without the exit handlers of C and C++.
   */
  stopAll(): void;
}
