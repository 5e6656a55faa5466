/** The typed contract of the .node file: what native/node exports. Nothing else may be relied on. */

import type { ProgramReport } from './binding/programs';
import type { Completion, NativeInput, NativeRefusal } from './binding/requests';
import type { NativePatterns, NativeScan, PatternSource, ScanOptions } from './binding/scan';
import type { ModelSource } from './binding/sources';

export type * from './binding/programs';
export type * from './binding/requests';
export type * from './binding/scan';
export type * from './binding/sources';

/** In which numbers a text model's linear layers multiply. */
export type Dtype = 'float32' | 'bfloat16' | 'int8';

/** What is multiplied in bfloat16 where DTYPE leaves a choice; auto: a table of processors says. */
export type ProductNumbers = 'auto' | 'float32' | 'bfloat16';

/** How the engine may use the machine, and what a model may do. */
export interface SchedulingOptions {
  /** Default: float32. */
  readonly dtype?: Dtype;
  /** What is multiplied in bfloat16 where `dtype` leaves a choice. Default: auto, by the processor. */
  readonly attentionDtype?: ProductNumbers;
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
  /** Numbers and kernel of the linear layers: `int8 avx512-vnni`. */
  readonly linear: string;
  /** The same of attention; empty: it is LibTorch's. */
  readonly attention: string;
  /** That may be used: a value of the setting INSTRUCTION_SET. */
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

export interface NativeEngine {
  readonly description: ModelDescription;
  /**
   * One input or a list of them, all or none; the tickets count up from the first. undefined:
   * accepted, a completion of each will come. timeoutMs 0: no deadline. maxOutputs: numbers that the
   * answers may have together, where each token has a row of them (INPUT_TOO_LONG). Default: any. Throws on a
   * bad input.
   */
  submit(
    firstTicket: number,
    inputs: NativeInput | readonly NativeInput[],
    timeoutMs: number,
    maxOutputs?: number,
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
   * that the model was given up on.
   * An engine that is collected as garbage is closed in this way, too. The model is freed by then, also
   * if this object is not; a run that does not come back keeps it until it does.
   */
  close(): Promise<void>;
  /** What an id stands for; empty: for nothing, or the model has no vocabulary. Throws once it is closed. */
  token(id: number): string;
  /** The text that tokens stand for together. Throws once the model is closed. */
  join(tokens: readonly string[]): string;
  /** From now on, see `SchedulingOptions.share`. */
  setShare(share: number): void;
}

export interface NativeBinding {
  readonly versions: { readonly libtorch: string; readonly tokenizers: string };
  /** onCompletions is called on the JS thread, once a batch. Rejects with a plain Error. */
  load(
    source: ModelSource,
    options: SchedulingOptions,
    onCompletions: (completions: readonly Completion[]) => void,
  ): Promise<NativeEngine>;
  /**
   * Why a number format is of no use on this processor: its instructions are missing, or known to be
   * slower than float32. Empty: it is of use.
   */
  dtypeProblem(dtype: Dtype, attentionDtype?: ProductNumbers): string;
  /** What is wrong with the environment variable INSTRUCTION_SET on this machine; empty: nothing. */
  instructionsProblem(): string;
  /** The values of INSTRUCTION_SET that this machine has, from the least to the most. */
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
  /** Frees them, after the looks that are under way, also if the object is not freed. May be repeated. */
  closePatterns(patterns: NativePatterns): Promise<void>;
  /** Looks for all patterns in all parts, on a thread of its own. Throws once they are closed. */
  look(
    patterns: NativePatterns,
    parts: readonly string[],
    options: ScanOptions,
  ): Promise<NativeScan>;
  /**
   * End every thread of this environment's engines and loads at once, answering nothing. One that
   * does not end within a second is left behind, and then the process ends without running what C
   * and C++ have registered for its exit.
   */
  stopAll(): void;
}
