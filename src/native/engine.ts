import { printable } from '../lib/printable';
import { ActiveWork } from './active-work';
import type {
  EngineErrorCode,
  EngineStats,
  Inference,
  ModelDescription,
  ModelSource,
  NativeEngine,
  NativeInput,
  NativeRefusal,
  ProgramReport,
  SchedulingOptions,
  Tokenization,
} from './binding';
import type { CancelSignal } from './cancellation';
import { EngineError, errorOf } from './engine-error';
import { listTooLong, MIN_CHECKED_BYTES, minimumBytes } from './list-size';
import { loadBinding } from './load';
import { type EngineObserver, type PendingRequest, PendingRequests } from './pending-requests';
import { Vocabulary } from './vocabulary';
import {
  requireWindowLimit,
  runWindows,
  unrunWindowsOf,
  WindowMemory,
  withMaxWindows,
} from './windows';

export type * from './binding';
export { EngineError } from './engine-error';
/** The addon, for what is no engine's. Throws with numbered advice when it cannot be opened. */
export { loadBinding as addon } from './load';
export type { EngineObserver } from './pending-requests';
export type { Vocabulary } from './vocabulary';

export interface InferOptions {
  /** Aborted: the caller no longer wants the answer; what has not begun to run is dropped. */
  readonly signal?: CancelSignal;
  /**
   * From now, in ms: a request that has not begun to run by then is dropped, and one that could not
   * is refused. Default: never.
   */
  readonly timeoutMs?: number;
  /** Of a text that is read in windows, how many: what lies behind them is cut. Default: all. */
  readonly maxWindows?: number;
  /**
   * Numbers that the answers of all inputs may have together, where each token has a row of them: what has
   * more is INPUT_TOO_LONG before it is run. Default: any.
   */
  readonly maxOutputs?: number;
}

/**
 * What a program's file says, none of it run: for people, not for services.
 *
 * @throws EngineError with code MODEL_LOAD_FAILED where it cannot be read
 */
export function inspectProgram(path: string, allowedOperators: readonly string[]): ProgramReport {
  try {
    return loadBinding().inspectProgram(path, allowedOperators);
  } catch (error) {
    throw new EngineError('MODEL_LOAD_FAILED', printable((error as Error).message));
  }
}

/** What may be seen of an engine. */
export type EngineMonitor = Pick<
  Engine,
  'description' | 'refusals' | 'stats' | 'stuckMs' | 'observe'
>;

interface WindowOptions {
  readonly signal: CancelSignal | undefined;
  readonly timeoutMs: number;
  /** When the text was submitted. */
  readonly started: number;
  readonly index?: number | null;
}

/** What an input of a list ended with itself, not because the others did. */
const INPUT_FAULTS: ReadonlySet<EngineErrorCode> = new Set([
  'INFERENCE_FAILED',
  'DEADLINE_EXCEEDED',
  'INPUT_TOO_LONG',
]);

/**
 * A loaded model with its queue, batches and threads, all of them outside the event loop.
 *
 * An engine that is idle does not keep the process alive; one with requests under way does.
 */
export class Engine {
  readonly description: ModelDescription;
  /** How often it refused here, and why; a list is one refusal. */
  readonly refusals: Record<NativeRefusal['code'], number> = {
    QUEUE_FULL: 0,
    WAIT_TOO_LONG: 0,
    DEADLINE_TOO_CLOSE: 0,
    DRAINING: 0,
  };
  /** null: of a signal model, or a program. */
  readonly vocabulary: Vocabulary | null;
  private readonly native: NativeEngine;
  private readonly waiting: PendingRequests;
  private readonly heldWindows = new WindowMemory();
  /** For refusals: to ask for all `stats` would cost more than the rest of one. */
  private readonly maxQueueWaitMs: number;
  /** Calls that are not answered yet: one may run the model several times. */
  private readonly holds = new ActiveWork();
  private closed: Promise<void> | undefined;
  private lastTicket = 0;

  private constructor(native: NativeEngine, waiting: PendingRequests) {
    this.native = native;
    this.waiting = waiting;
    this.maxQueueWaitMs = native.stats().queueWaitLimitMs;
    this.description = native.description;
    this.vocabulary = Vocabulary.of(native, this.description, this.holds);
  }

  /**
   * Load a model on a native thread.
   *
   * @throws EngineError MODEL_LOAD_FAILED: the message names the file and the key at fault.
   */
  static async load(source: ModelSource, options: SchedulingOptions): Promise<Engine> {
    const waiting = new PendingRequests();
    try {
      const native = await loadBinding().load(source, options, waiting.onCompletions);
      return new Engine(native, waiting);
    } catch (error) {
      throw new EngineError('MODEL_LOAD_FAILED', printable((error as Error).message));
    }
  }

  /** For all who use it, from now on; see `SchedulingOptions.share`. */
  setShare(share: number): void {
    this.native.setShare(share);
  }

  /**
   * Run the model on one text (or two that belong together), or one window of samples.
   *
   * @throws EngineError with a code that says why there is no answer.
   */
  async infer(
    input: NativeInput,
    { signal, timeoutMs = 0, maxWindows: mostWindows, maxOutputs }: InferOptions = {},
  ): Promise<Inference> {
    this.requireOpen();
    return this.holds.track(async () => {
      const started = performance.now();
      const limited = withMaxWindows(input, mostWindows);
      const ticket = this.submit(limited, 1, { signal, timeoutMs, maxOutputs });
      const inference = await this.completionOf(ticket, signal);
      const windows = unrunWindowsOf(inference);
      if (windows === null) return inference;
      return this.heldWindows.track([inference], () =>
        this.inferWindows(inference, windows, { signal, timeoutMs, started }),
      );
    });
  }

  /** Tell `observer` of everything that ends from now on. */
  observe(observer: EngineObserver): void {
    this.waiting.observers.push(observer);
  }

  /**
   * Run the model on each input of a list: on all of them or, where the queue has no room for all,
   * on none. A list may wait as long as a single input may before its first one runs.
   *
   * @returns in the order of the inputs
   * @throws EngineError of the first input that failed, with its `index` where the fault is its own;
   *   the others are cancelled.
   */
  async inferAll(
    inputs: readonly NativeInput[],
    options: InferOptions = {},
  ): Promise<readonly Inference[]> {
    if (inputs.length === 0) return [];
    this.requireOpen();
    return this.holds.track(() => this.inferList(inputs, options));
  }

  /** The same for a call that was taken before the engine was closed. */
  private async inferList(
    inputs: readonly NativeInput[],
    { signal, timeoutMs = 0, maxWindows: mostWindows, maxOutputs }: InferOptions,
  ): Promise<readonly Inference[]> {
    const started = performance.now();
    const limited = inputs.map((input) => withMaxWindows(input, mostWindows));
    const firstTicket = this.submit(limited, inputs.length, { signal, timeoutMs, maxOutputs });
    const answers = inputs.map((_, index) =>
      this.completionOf(firstTicket + index).catch((error: EngineError) => {
        throw INPUT_FAULTS.has(error.code)
          ? new EngineError(error.code, error.message, { index })
          : error;
      }),
    );
    const cancel = (): void => {
      for (let i = 0; i < inputs.length; i++) this.native.cancel(firstTicket + i);
    };
    signal?.addEventListener('abort', cancel);
    try {
      const ran = await Promise.all(answers);
      requireWindowLimit(ran);
      return await this.heldWindows.track(ran, async () => {
        for (const [index, one] of ran.entries()) {
          const windows = unrunWindowsOf(one);
          if (windows === null) continue;
          ran[index] = await this.inferWindows(one, windows, { signal, timeoutMs, started, index });
        }
        return ran;
      });
    } catch (error) {
      cancel();
      throw error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /**
   * Run the model on each input of a list, which are taken all or none, and of which each ends by itself: of
   * texts, such as are not read in windows.
   *
   * @param waiting who is told, in the order of the inputs, at most once each
   * @throws EngineError where they are refused: nobody is told then
   */
  inferEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    waiting: readonly Pick<PendingRequest, 'resolve' | 'reject'>[],
  ): void {
    this.requireOpen();
    const firstTicket = this.submit(inputs, inputs.length, { signal: undefined, timeoutMs });
    for (const [index, one] of waiting.entries()) this.waiting.add(firstTicket + index, one);
  }

  /** Why an input that came now would be refused; null: it would be taken. Microseconds. */
  admissionError(timeoutMs: number): EngineError | null {
    if (this.closed) return errorOf('DRAINING');
    const refusal = this.native.admission(timeoutMs);
    return refusal ? this.toRefusalError(refusal, timeoutMs) : null;
  }

  stats(): EngineStats {
    return this.native.stats();
  }

  /** How long the model has been running on a batch that it was given up on, in ms; 0: there is none. */
  get stuckMs(): number {
    return this.native.stuckMs();
  }

  /** Refuse new requests, and answer those that wait with DRAINING. What runs goes on. */
  drop(): void {
    this.native.drop();
  }

  /**
   * Refuse new requests, answer what was accepted, free the model, whoever still refers to this engine,
   * and end its threads, but for those that the model was given up on. May be called again.
   */
  close(): Promise<void> {
    this.closed ??= new Promise<void>((resolve) => this.holds.onIdle(resolve)).then(() =>
      this.native.close(),
    );
    return this.closed;
  }

  private requireOpen(): void {
    if (this.closed) throw errorOf('DRAINING');
  }

  /** @param index of the text in a list, for errors */
  private async inferWindows(
    cut: Inference,
    windows: Tokenization,
    { signal, timeoutMs, started, index = null }: WindowOptions,
  ): Promise<Inference> {
    try {
      return await runWindows(cut, windows, async (inputs) => {
        const left = timeoutMs - (performance.now() - started);
        if (timeoutMs > 0 && left <= 0) throw errorOf('DEADLINE_EXCEEDED');
        return this.inferList(inputs, {
          ...(signal && { signal }),
          timeoutMs: timeoutMs > 0 ? left : 0,
        });
      });
    } catch (error) {
      if (!(error instanceof EngineError) || error.index === null) throw error;
      throw new EngineError(error.code, error.message, { index });
    }
  }

  /** @returns the ticket of the first of `count` inputs */
  private submit(
    inputs: NativeInput | readonly NativeInput[],
    count: number,
    {
      signal,
      timeoutMs,
      maxOutputs = 0,
    }: { signal: CancelSignal | undefined; timeoutMs: number; maxOutputs?: number | undefined },
  ): number {
    if (signal?.aborted) throw errorOf('CANCELLED');
    if (count > 1) this.requireRoom(inputs as readonly NativeInput[], timeoutMs);
    const firstTicket = this.lastTicket + 1;
    this.lastTicket += count;
    const refusal = this.native.submit(firstTicket, inputs, timeoutMs, maxOutputs);
    if (refusal) throw this.toRefusalError(refusal, timeoutMs);
    return firstTicket;
  }

  /**
   * Rejects a list before it is copied: one text may be in it many times, as the query of all documents.
   *
   * @throws EngineError LIST_TOO_LONG: no queue would ever have room for it; QUEUE_FULL: it has none now
   */
  private requireRoom(inputs: readonly NativeInput[], timeoutMs: number): void {
    const bytes = minimumBytes(inputs);
    if (bytes < MIN_CHECKED_BYTES) return;
    const { queueBytes, queueBytesLimit, queueWaitMs } = this.native.stats();
    if (bytes > queueBytesLimit) throw listTooLong(inputs.length, bytes, queueBytesLimit);
    if (queueBytes + bytes <= queueBytesLimit) return;
    throw this.toRefusalError({ code: 'QUEUE_FULL', waitMs: queueWaitMs }, timeoutMs);
  }

  /** @param signal that cancels it */
  private completionOf(ticket: number, signal?: CancelSignal): Promise<Inference> {
    const cancel = signal && (() => this.native.cancel(ticket));
    if (cancel) signal.addEventListener('abort', cancel);
    return new Promise((resolve, reject) => {
      this.waiting.requests.set(ticket, { resolve, reject, signal, cancel });
    });
  }

  private toRefusalError({ code, waitMs }: NativeRefusal, timeoutMs: number): EngineError {
    this.refusals[code]++;
    const wait = `The wait in the queue would be about ${Math.ceil(waitMs)} ms,`;
    switch (code) {
      case 'DRAINING':
        return errorOf(code);
      case 'QUEUE_FULL':
        return new EngineError(code, 'The queue is full.', { waitMs });
      case 'WAIT_TOO_LONG': {
        const limit = `over the limit of ${this.maxQueueWaitMs} ms.`;
        return new EngineError(code, `${wait} ${limit}`, { waitMs });
      }
      case 'DEADLINE_TOO_CLOSE': {
        const deadline = Math.round(timeoutMs);
        return new EngineError(code, `${wait} the deadline is in ${deadline} ms.`, { waitMs });
      }
    }
  }
}

/**
 * Keeps this process to a value of the setting INSTRUCTION_SET, before anything computes. The native part
 * reads the environment, once; it is open by then, so no thread of LibTorch's reads it meanwhile.
 *
 * @param limit null: the environment variable, if it is set
 * @returns why it cannot be had on this machine; empty: it can
 */
export function limitInstructions(limit: string | null): string {
  const binding = loadBinding();
  if (limit !== null) process.env.INSTRUCTION_SET = limit;
  return binding.instructionsProblem();
}
