import { printable } from '../lib/printable';
import { addon } from './addon';
import { BackgroundInputs } from './background-inputs';
import type {
  EngineStats,
  Inference,
  ModelDescription,
  ModelSource,
  NativeEngine,
  NativeInput,
  NativeRefusal,
  SchedulingOptions,
  Tokenization,
} from './binding';
import { withConfigLocation } from './config-location';
import { EngineError, errorOf, isInputFault, refusalError, withIndex } from './engine-error';
import { requireListSize } from './list-size';
import {
  ActiveWork,
  type CancelSignal,
  type EngineObserver,
  type InferOptions,
  type PendingRequest,
  PendingRequests,
} from './pending-requests';
import { inferTextLists, TextLists } from './text-lists';
import { Vocabulary } from './vocabulary';
import { requireWindowLimit, runWindows, unrunWindowsOf, WindowMemory } from './windows';

export type * from './binding';
export { withConfigLocation } from './config-location';
export { EngineError } from './engine-error';
export type { EngineObserver, InferOptions } from './pending-requests';
export type { Vocabulary } from './vocabulary';

/** Read-only view of an engine. */
export type EngineMonitor = Pick<
  Engine,
  'description' | 'refusals' | 'stats' | 'stuckMs' | 'observe'
>;

interface WindowOptions {
  readonly signal: CancelSignal | undefined;
  readonly timeoutMs: number;
  /** `performance.now()` when the text was submitted. */
  readonly started: number;
  /** Index of the text in a list, for errors; null: a single text. */
  readonly index: number | null;
}

/**
 * A loaded model with its queue, its batches and its threads, which run outside the event loop.
 *
 * An idle engine does not keep the process alive. An engine with pending requests does.
 */
export class Engine {
  readonly description: ModelDescription;
  /** Rejections by code since the engine was loaded. A list counts once. */
  readonly refusals: Record<NativeRefusal['code'], number> = {
    QUEUE_FULL: 0,
    WAIT_TOO_LONG: 0,
    DEADLINE_TOO_CLOSE: 0,
    DRAINING: 0,
  };
  /** null: signal model, or text model from a program. */
  readonly vocabulary: Vocabulary | null;
  private readonly native: NativeEngine;
  private readonly pending: PendingRequests;
  /** null: each text is a request. */
  private readonly textLists: TextLists | null;
  private readonly windowMemory = new WindowMemory();
  /** Copy of `queueWaitLimitMs`. Reading all `stats` would cost more than the rest of a rejection. */
  private readonly maxQueueWaitMs: number;
  /** Calls in progress. A call can run the model several times. */
  private readonly activeCalls = new ActiveWork();
  private readonly background: BackgroundInputs;
  private closed: Promise<void> | undefined;
  private lastTicket = 0;

  private constructor(
    native: NativeEngine,
    pending: PendingRequests,
    scheduling: SchedulingOptions,
  ) {
    this.native = native;
    this.pending = pending;
    this.maxQueueWaitMs = native.stats().queueWaitLimitMs;
    this.description = native.description;
    this.textLists = this.description.readsLists ? new TextLists(scheduling) : null;
    this.vocabulary = Vocabulary.of(native, this.description, this.activeCalls);
    this.background = new BackgroundInputs(
      (input, given) => this.infer(input, given),
      this.description.maxLength,
      scheduling,
    );
  }

  /**
   * Loads a model on a native thread.
   *
   * @throws EngineError MODEL_LOAD_FAILED: the message names the file and the key
   */
  static async load(source: ModelSource, options: SchedulingOptions): Promise<Engine> {
    const pending = new PendingRequests();
    try {
      const native = await addon().load(source, options, pending.onCompletions);
      return new Engine(native, pending, options);
    } catch (error) {
      const location = source.type === 'text-encoder' ? source.configLocation : undefined;
      const message = withConfigLocation((error as Error).message, location);
      throw new EngineError('MODEL_LOAD_FAILED', printable(message));
    }
  }

  /** See `SchedulingOptions.weight`. */
  setWeight(weight: number): void {
    this.native.setWeight(weight);
  }

  /**
   * Runs the model on a text, a text pair, or a signal window.
   * @throws EngineError
   */
  async infer(input: NativeInput, options: InferOptions = {}): Promise<Inference> {
    this.requireOpen();
    const { signal, timeoutMs = 0, maxWindows, maxOutputs, isBackground } = options;
    return this.activeCalls.track(async () => {
      if (isBackground) {
        const [only] = await this.background.runAll([input], options);
        return only as Inference;
      }
      const started = performance.now();
      const limited = withMaxWindows(input, maxWindows);
      const ticket = this.submit(limited, 1, { signal, timeoutMs, maxOutputs });
      const inference = await this.completionOf(ticket, signal);
      const windows = inference.places && unrunWindowsOf(inference);
      if (!windows) return inference;
      return this.windowMemory.track([inference], () =>
        this.inferWindows(inference, windows, { signal, timeoutMs, started, index: null }),
      );
    });
  }

  /** Calls `observer` for all completions from now on. */
  observe(observer: EngineObserver): void {
    this.pending.observers.push(observer);
  }

  /**
   * Runs the model on each input of a list. The queue accepts all inputs or rejects the list. The maximum queue wait
   * applies to the first input.
   *
   * @returns inferences in the order of the inputs
   * @throws EngineError of the first input that failed, with its `index` if the input caused the error. The remaining
   *   inputs are cancelled.
   */
  async inferAll(
    inputs: readonly NativeInput[],
    options: InferOptions = {},
  ): Promise<readonly Inference[]> {
    if (inputs.length === 0) return [];
    this.requireOpen();
    return this.activeCalls.track(() =>
      options.isBackground
        ? this.background.runAll(inputs, options)
        : this.inferList(inputs, options),
    );
  }

  /** `inferAll` without the check for a closed engine: the windows of a text also run while the engine closes. */
  private inferList(
    inputs: readonly NativeInput[],
    options: InferOptions,
  ): Promise<readonly Inference[]> {
    const lists = this.textLists?.join(inputs, options);
    return lists
      ? inferTextLists(lists, (locate) => this.inferRequests(lists, options, locate))
      : this.inferRequests(inputs, options, locateInput);
  }

  /** @param locate adds the index of the input to the error of a request */
  private async inferRequests(
    inputs: readonly NativeInput[],
    { signal, timeoutMs = 0, maxWindows, maxOutputs }: InferOptions,
    locate: (error: EngineError, index: number) => EngineError,
  ): Promise<readonly Inference[]> {
    const started = performance.now();
    const limited = inputs.map((input) => withMaxWindows(input, maxWindows));
    const firstTicket = this.submit(limited, inputs.length, { signal, timeoutMs, maxOutputs });
    const completions = inputs.map((_, index) =>
      this.completionOf(firstTicket + index).catch((error: EngineError) => {
        throw locate(error, index);
      }),
    );
    const cancel = (): void => {
      for (let i = 0; i < inputs.length; i++) this.native.cancel(firstTicket + i);
    };
    signal?.addEventListener('abort', cancel);
    try {
      const inferences = await Promise.all(completions);
      if (!inferences.some(({ places }) => places)) return inferences;
      requireWindowLimit(inferences);
      return await this.windowMemory.track(inferences, async () => {
        for (const [index, inference] of inferences.entries()) {
          const windows = unrunWindowsOf(inference);
          if (windows === null) continue;
          const options = { signal, timeoutMs, started, index };
          inferences[index] = await this.inferWindows(inference, windows, options);
        }
        return inferences;
      });
    } catch (error) {
      cancel();
      throw error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * Runs the model on each input of a list, and reports each completion separately. The queue accepts all inputs or
   * rejects the list. Inputs must not be texts that are read in windows.
   *
   * @param requests callbacks in the order of the inputs, at most one call each
   * @throws EngineError if the list is rejected; no callback is called
   */
  inferEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    requests: readonly Pick<PendingRequest, 'resolve' | 'reject'>[],
  ): void {
    this.requireOpen();
    const firstTicket = this.submit(inputs, inputs.length, { signal: undefined, timeoutMs });
    for (const [index, request] of requests.entries()) {
      this.pending.add(firstTicket + index, request);
    }
  }

  /**
   * Decodes lists of token IDs on a native thread.
   *
   * @returns for each list its text, or the index of its first unknown ID
   * @throws EngineError DRAINING
   */
  async decode(
    lists: readonly (readonly number[])[],
    skipSpecialTokens: boolean,
  ): Promise<readonly (string | number)[]> {
    this.requireOpen();
    let end = 0;
    const ends = Uint32Array.from(lists, ({ length }) => (end += length));
    const ids = new Uint32Array(end);
    for (const [index, list] of lists.entries()) ids.set(list, (ends[index] ?? 0) - list.length);
    return this.activeCalls.track(() => this.native.decode(ids, ends, skipSpecialTokens));
  }

  /** The error with which the queue would reject an input now; null: it would accept it. Takes microseconds. */
  admissionError(timeoutMs: number): EngineError | null {
    if (this.closed) return errorOf('DRAINING');
    const refusal = this.native.admission(timeoutMs);
    return refusal ? this.toRefusalError(refusal, timeoutMs) : null;
  }

  stats(): EngineStats {
    return this.native.stats();
  }

  /** Time that an abandoned batch has been running, in ms; 0: no batch is abandoned. */
  get stuckMs(): number {
    return this.native.stuckMs();
  }

  /** Rejects new requests and fails queued requests with DRAINING. Running batches continue. */
  drop(): void {
    this.native.drop();
  }

  /**
   * Rejects new requests, completes accepted requests, frees the model and ends its threads, except abandoned threads.
   * References to this engine do not keep the model.
   */
  close(): Promise<void> {
    this.closed ??= new Promise<void>((resolve) => this.activeCalls.onIdle(resolve)).then(() =>
      this.native.close(),
    );
    return this.closed;
  }

  private requireOpen(): void {
    if (this.closed) throw errorOf('DRAINING');
  }

  private async inferWindows(
    tokenized: Inference,
    windows: Tokenization,
    { signal, timeoutMs, started, index }: WindowOptions,
  ): Promise<Inference> {
    try {
      return await runWindows(tokenized, windows, async (inputs) => {
        const remainingMs = timeoutMs - (performance.now() - started);
        if (timeoutMs > 0 && remainingMs <= 0) throw errorOf('DEADLINE_EXCEEDED');
        return this.inferList(inputs, {
          ...(signal && { signal }),
          timeoutMs: timeoutMs > 0 ? remainingMs : 0,
        });
      });
    } catch (error) {
      if (!(error instanceof EngineError) || error.index === null) throw error;
      throw withIndex(error, index);
    }
  }

  /** @returns ticket of the first of `count` inputs */
  private submit(
    inputs: NativeInput | readonly NativeInput[],
    count: number,
    options: {
      readonly signal: CancelSignal | undefined;
      readonly timeoutMs: number;
      readonly maxOutputs?: number | undefined;
    },
  ): number {
    const { signal, timeoutMs, maxOutputs = 0 } = options;
    if (signal?.aborted) throw errorOf('CANCELLED');
    if (count > 1) {
      const refusal = requireListSize(inputs as readonly NativeInput[], () => this.native.stats());
      if (refusal) throw this.toRefusalError(refusal, timeoutMs);
    }
    const firstTicket = this.lastTicket + 1;
    this.lastTicket += count;
    const refusal = this.native.submit(firstTicket, inputs, timeoutMs, maxOutputs);
    if (refusal) throw this.toRefusalError(refusal, timeoutMs);
    return firstTicket;
  }

  /** @param signal cancels the request; undefined: the caller cancels it */
  private completionOf(ticket: number, signal?: CancelSignal): Promise<Inference> {
    const cancel = signal && (() => this.native.cancel(ticket));
    if (cancel) signal.addEventListener('abort', cancel);
    return new Promise((resolve, reject) => {
      this.pending.add(ticket, { resolve, reject, signal, cancel });
    });
  }

  private toRefusalError(refusal: NativeRefusal, timeoutMs: number): EngineError {
    this.refusals[refusal.code]++;
    return refusalError(refusal, { timeoutMs, maxQueueWaitMs: this.maxQueueWaitMs });
  }
}

function locateInput(error: EngineError, index: number): EngineError {
  return isInputFault(error) ? withIndex(error, index) : error;
}

/** Adds the limit to a text that is read in windows. Other inputs are returned unchanged. */
function withMaxWindows(input: NativeInput, maxWindows: number | undefined): NativeInput {
  if (maxWindows === undefined || typeof input === 'string' || !('stride' in input)) return input;
  return { ...input, mostWindows: maxWindows };
}
