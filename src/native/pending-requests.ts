import { CompactingMap } from '../lib/compacting-map';
import type { Completion, Inference } from './binding';
import { type EngineError, errorOf, withIndex } from './engine-error';

/** Subset of AbortSignal that the engine uses. Every AbortSignal is a CancelSignal. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface InferOptions {
  /** Cancels the inputs that have not started to run. */
  readonly signal?: CancelSignal;
  /**
   * Time from now until the deadline, in ms. The engine drops inputs that have not started by then, and rejects
   * inputs that cannot start in time. Default: no deadline.
   */
  readonly timeoutMs?: number;
  /** Maximum number of windows of a text. Later tokens are truncated. Default: all windows. */
  readonly maxWindows?: number;
  /**
   * Maximum number of outputs of all inputs, for models with outputs per token. Inputs over the limit fail with
   * INPUT_TOO_LONG before they run. Default: no limit.
   */
  readonly maxOutputs?: number;
  /** The inputs have a lower priority than inputs of interactive requests, see `BackgroundInputs`. Default: false. */
  readonly isBackground?: boolean;
}

/**
 * Replacement for AbortController and its signal. Every request has a Cancellation and hardly any is cancelled:
 * the EventTarget of Node costs about a tenth of an EEG request.
 */
export class Cancellation implements CancelSignal {
  #aborted = false;
  /** Most signals have a single listener. */
  #first: (() => void) | null = null;
  /** Listeners after the first; null while there is at most one. */
  #rest: Set<() => void> | null = null;

  get aborted(): boolean {
    return this.#aborted;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#first === listener) return;
    if (this.#first === null && !this.#rest?.size) {
      this.#first = listener;
      return;
    }
    this.#rest ??= new Set();
    this.#rest.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#first === listener) this.#first = null;
    else this.#rest?.delete(listener);
  }

  /** Calls each listener once. Further calls have no effect. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#first?.();
    for (const listener of this.#rest ?? []) listener();
    this.#first = null;
    this.#rest = null;
  }
}

/** Counter of the tasks that use native memory. The memory is freed after the last task ends. */
export class ActiveWork {
  #count = 0;
  #onIdle: (() => void) | null = null;

  /** Counts `work` as active until its promise settles. */
  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
      this.#scheduleFree();
    }
  }

  /** Calls `free` once, as soon as no work is active and the ended work has started no further work. */
  onIdle(free: () => void): void {
    this.#onIdle = free;
    this.#scheduleFree();
  }

  #scheduleFree(): void {
    if (this.#count > 0 || !this.#onIdle) return;
    // The callers that await the ended work continue before `setImmediate`, and may start further work.
    setImmediate(() => {
      if (this.#count > 0) return;
      const free = this.#onIdle;
      this.#onIdle = null;
      free?.();
    });
  }
}

/** Called once per batch, before the promises of its requests settle. */
export type EngineObserver = (completions: readonly Completion[]) => void;

export interface PendingRequest {
  resolve(inference: Inference): void;
  reject(error: EngineError): void;
  /** Signal that cancels the request; undefined: the request cannot be cancelled. */
  readonly signal?: CancelSignal | undefined;
  /** Listener of `signal`, removed on completion. */
  readonly cancel?: (() => void) | undefined;
}

/** Number of submitted inputs of all engines of the process. A list of texts in one request counts once. */
export const submittedInputs = { all: 0, background: 0 };

/** Submitted requests of an engine, by ticket, and the observers of their completions. */
export class PendingRequests {
  readonly observers: EngineObserver[] = [];
  readonly #requests = new CompactingMap<number, PendingRequest>();

  add(ticket: number, request: PendingRequest): void {
    this.#requests.set(ticket, request);
    submittedInputs.all++;
  }

  readonly onCompletions = (completions: readonly Completion[]): void => {
    for (const observe of this.observers) runIsolated(() => observe(completions));
    for (const completion of completions) {
      const request = this.#requests.get(completion.ticket);
      if (!request) continue;
      this.#requests.delete(completion.ticket);
      submittedInputs.all--;
      runIsolated(() => settle(request, completion));
    }
  };
}

function settle(request: PendingRequest, completion: Completion): void {
  if (request.cancel) request.signal?.removeEventListener('abort', request.cancel);
  if (completion.code === undefined) request.resolve(completion);
  else request.reject(toError(completion));
}

function toError({ code, message, element }: Extract<Completion, { code: string }>): EngineError {
  const error = errorOf(code, message);
  return element === undefined ? error : withIndex(error, element);
}

/** Runs a callback so that its error does not affect the other requests of the batch. */
function runIsolated(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    process.emitWarning(error as Error);
  }
}
