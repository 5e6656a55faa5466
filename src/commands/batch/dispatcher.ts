import { RunError } from '../../files/file-errors';
import type { RowResult } from '../../files/rows';
import { ConditionVariable } from '../../lib/condition-variable';
import { EngineError } from '../../native/engine';
import type { RowTask } from './job';

/** Enough for each worker to find its next batches waiting, whatever this thread does meanwhile. */
const MAX_INPUTS = 1024;
/** Of their lengths: the engine's queue takes 64 MiB of inputs. */
const MAX_TOTAL_LENGTH = 16 * 1024 ** 2;
/** How often a model that has not come back is looked at. */
const CHECK_INTERVAL_MS = 100;

/** The fault is the row's own, so it goes to the rejects; any other one is about the run. */
const ROW_ERRORS: ReadonlySet<string> = new Set(['INFERENCE_FAILED', 'INPUT_TOO_LONG']);

/** The model did not come back from a batch. */
export class HungModelError extends Error {
  override readonly name = 'StuckError';
}

/** A row on its way through the engine. */
export interface BatchRow extends RowResult {
  /** What the model takes; null: nothing, or nothing any more. */
  input: unknown;
  /** The model ran for too long on a batch that it was in, in a process that was ended. */
  readonly hasOverrun: boolean;
}

export interface DispatcherParts {
  readonly task: RowTask;
  /** Called for each row that has its answer, or has none for good. */
  readonly onEnded: () => void;
  /** Called for each row on which the model ran for too long, each time. */
  readonly onOverrun: (item: BatchRow, reason: string) => Promise<void>;
  /** How long nothing may end while the model does not come back from a batch. */
  readonly stuckAfterMs: number;
}

/**
 * Hands inputs to the engine, as many at a time as keep it busy. Where the model runs for too long on
 * a batch, its rows run again, each alone: a row on which it does so then goes to the rejects.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  /** That have been taken and have not ended, and their lengths. */
  #inputs = 0;
  #length = 0;
  /** Of these, in the engine. */
  #running = 0;
  /** Of these, that are to run alone. */
  #alone = 0;
  /** The last one that is to run alone. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Of any of these. */
  readonly #changes = new ConditionVariable();
  #lastEnd = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** Rejects with RunError or StuckError once the run cannot go on: what is under way may never end. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => {};

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#watch(), CHECK_INTERVAL_MS);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {}); // whoever waits for it is told
  }

  /**
   * Runs a chunk's items; returns when the last one has been handed over.
   *
   * @returns resolves when all have ended; where the run has failed, never
   */
  async dispatch(items: readonly BatchRow[]): Promise<{ readonly ended: Promise<unknown> }> {
    const running: Promise<void>[] = [];
    for (const { item, length } of this.#inOrder(items)) {
      while (!this.#hasRoom(length)) await this.#changes.next();
      running.push(this.#take(item, length));
    }
    return { ended: Promise.all(running) };
  }

  readonly close = (): void => clearInterval(this.#timer);

  /** Longest first: then no long one is left over at the end, when other workers have nothing to do. */
  #inOrder(items: readonly BatchRow[]) {
    const { task, onEnded } = this.#parts;
    const left = items.filter((item) => item.problem === null);
    for (let i = left.length; i < items.length; i++) onEnded();
    return left
      .map((item) => ({ item, length: task.inputLength(item.input) }))
      .sort((a, b) => b.length - a.length);
  }

  #hasRoom(length: number): boolean {
    if (this.#alone > 0) return false;
    if (this.#inputs === 0) return true;
    return this.#inputs < MAX_INPUTS && this.#length + length <= MAX_TOTAL_LENGTH;
  }

  async #take(item: BatchRow, length: number): Promise<void> {
    const { input } = item;
    item.input = null;
    this.#inputs++;
    this.#length += length;
    try {
      const overrun = item.hasOverrun ? '' : await this.#run(item, input);
      if (overrun !== null) item.problem = await this.#runAlone(item, input);
    } catch (error) {
      this.#fail(error as Error);
      return new Promise(() => {});
    }
    this.#inputs--;
    this.#length -= length;
    this.#changes.notify();
    this.#parts.onEnded();
  }

  /** @returns why the model ran for too long, or null */
  async #run(item: BatchRow, input: unknown): Promise<string | null> {
    this.#running++;
    if (this.#running === 1) this.#lastEnd = performance.now();
    try {
      item.prediction = await this.#parts.task.run(input);
      return null;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const { code, message } = error;
      if (code === 'INFERENCE_TIMEOUT') {
        await this.#parts.onOverrun(item, message);
        return message;
      }
      if (!ROW_ERRORS.has(code)) throw new RunError(message);
      item.problem = message;
      return null;
    } finally {
      this.#running--;
      this.#lastEnd = performance.now();
      this.#changes.notify();
    }
  }

  /** Others that are in the engine are waited for, and nothing new is handed over meanwhile. */
  #runAlone(item: BatchRow, input: unknown): Promise<string | null> {
    this.#alone++;
    const turn = this.#turn.then(async () => {
      while (this.#running > 0) await this.#changes.next();
      return (await this.#run(item, input)) ?? item.problem;
    });
    this.#turn = turn.catch(() => {});
    return turn.finally(() => {
      this.#alone--;
      this.#changes.notify();
    });
  }

  /** Workers that the model does not give back are gone; once all are, nothing ends any more. */
  #watch(): void {
    const { task, stuckAfterMs } = this.#parts;
    if (this.#running === 0 || performance.now() - this.#lastEnd < stuckAfterMs) return;
    const { stuckMs } = task.model.monitor;
    if (stuckMs === 0) return;
    const seconds = Math.round(stuckMs / 1000);
    this.#fail(
      new HungModelError(
        `the model has not come back from a batch for ${seconds} s: --resume goes on without what it hangs on`,
      ),
    );
  }
}
