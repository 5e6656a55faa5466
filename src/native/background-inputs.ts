import { setTimeout as delay } from 'node:timers/promises';
import { ConditionVariable } from '../lib/condition-variable';
import type { Inference, NativeInput, SchedulingOptions } from './binding';
import { EngineError, errorOf, isInputFault, withIndex } from './engine-error';
import { Cancellation, type InferOptions, submittedInputs } from './pending-requests';

/** Characters per token, to estimate the length of a text before its tokenization. */
const CHARACTERS_PER_TOKEN = 4;
/** Interval at which waiting inputs check whether interactive requests are done, in ms. */
const CHECK_MS = 5;
/** Time after which an input is submitted despite interactive requests, so that background work proceeds, in ms. */
const MAX_PAUSE_MS = 1000;
/** Delay after a rejection by the queue, in ms. */
const RETRY_MS = 100;

const RETRYABLE: ReadonlySet<string> = new Set(['QUEUE_FULL', 'WAIT_TOO_LONG']);

type Infer = (input: NativeInput, options: InferOptions) => Promise<Inference>;
type Limits = Pick<SchedulingOptions, 'workers' | 'maxBatchTokens' | 'maxBatchRequests'>;

/**
 * Inputs of an engine with a lower priority than interactive requests: the lines of batches. They wait here, outside
 * of the engine's queue, in order of arrival.
 *
 * At most one batch per worker is submitted at once, so that an interactive request waits for one batch, and the expected
 * queue wait of the model stays low. While interactive requests of any model use all workers, one input per
 * `MAX_PAUSE_MS` is submitted.
 */
export class BackgroundInputs {
  readonly #infer: Infer;
  /** Maximum length of an input that is counted, in characters. */
  readonly #maxInputLength: number;
  readonly #workers: number;
  readonly #maxInputs: number;
  readonly #maxLength: number;
  /** Number of submitted inputs, and their total length in characters. */
  #inputs = 0;
  #length = 0;
  #lastSubmitAt = 0;
  readonly #changes = new ConditionVariable();
  /** Resolves when the last input that waits has been submitted. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param infer runs an input without priority
   * @param maxTokens maximum length of an input in tokens; longer texts are truncated
   */
  constructor(
    infer: Infer,
    maxTokens: number,
    { workers, maxBatchTokens, maxBatchRequests }: Limits,
  ) {
    this.#infer = infer;
    this.#maxInputLength = maxTokens * CHARACTERS_PER_TOKEN;
    this.#workers = workers;
    this.#maxInputs = workers * maxBatchRequests;
    this.#maxLength = workers * maxBatchTokens * CHARACTERS_PER_TOKEN;
  }

  /**
   * Runs inputs. The first error cancels the remaining inputs.
   *
   * @returns inferences in the order of the inputs
   * @throws EngineError with the index of the input that caused it. Rejections by a full queue are retried
   */
  async runAll(
    inputs: readonly NativeInput[],
    { signal, isBackground: _, ...options }: InferOptions,
  ): Promise<readonly Inference[]> {
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.abort();
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    const run = async (input: NativeInput, index: number): Promise<Inference> => {
      try {
        return await this.#run(input, { ...options, signal: cancellation });
      } catch (error) {
        cancel();
        const isFault = error instanceof EngineError && isInputFault(error);
        throw isFault ? withIndex(error, index) : error;
      }
    };
    try {
      return await Promise.all(inputs.map(run));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #run(
    input: NativeInput,
    options: InferOptions & { readonly signal: Cancellation },
  ): Promise<Inference> {
    const length = Math.min(lengthOf(input), this.#maxInputLength);
    for (;;) {
      const turn = this.#last.then(() => this.#wait(length, options.signal));
      this.#last = turn.catch(() => {});
      await turn;
      try {
        return await this.#submit(input, length, options);
      } catch (error) {
        if (!(error instanceof EngineError && RETRYABLE.has(error.code))) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  async #wait(length: number, signal: Cancellation): Promise<void> {
    for (;;) {
      if (signal.aborted) throw errorOf('CANCELLED');
      const fits = this.#inputs < this.#maxInputs && this.#length + length <= this.#maxLength;
      if (this.#inputs > 0 && !fits) await this.#changes.next();
      else if (this.#mustPause()) await delay(CHECK_MS);
      else break;
    }
    // Counted here: the next input checks before this one is submitted.
    this.#inputs++;
    this.#length += length;
    this.#lastSubmitAt = performance.now();
  }

  /** Whether interactive requests need all workers. */
  #mustPause(): boolean {
    const interactive = submittedInputs.all - submittedInputs.background;
    return interactive >= this.#workers && performance.now() - this.#lastSubmitAt < MAX_PAUSE_MS;
  }

  async #submit(input: NativeInput, length: number, options: InferOptions): Promise<Inference> {
    submittedInputs.background++;
    try {
      return await this.#infer(input, options);
    } finally {
      submittedInputs.background--;
      this.#inputs--;
      this.#length -= length;
      this.#changes.notify();
    }
  }
}

/** Length of a text or a text pair in characters; token IDs and samples count as `CHARACTERS_PER_TOKEN` each. */
function lengthOf(input: NativeInput): number {
  if (typeof input === 'string') return input.length;
  if ('text' in input) return input.text.length + ('pair' in input ? String(input.pair).length : 0);
  const { length } = 'ids' in input ? input.ids : (input as Float32Array);
  return length * CHARACTERS_PER_TOKEN;
}
