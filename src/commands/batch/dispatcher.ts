import { RunError } from '../../files/file-errors';
import type { RowResult } from '../../files/rows';
import { ConditionVariable } from '../../lib/condition-variable';
import { EngineError } from '../../native/engine';
import type { RowTask } from './job';

/** Maximum number of inputs in the engine: enough batches for all workers while this thread is busy. */
const MAX_INPUTS = 1024;
/** Maximum total length of inputs in the engine, whose queue is limited to 64 MiB. */
const MAX_TOTAL_LENGTH = 16 * 1024 ** 2;
/** Maximum number of rows that run as a list, and their maximum total length. */
const MAX_LIST_ROWS = 128;
const MAX_LIST_LENGTH = 64 * 1024;
/** Interval of checks for a hung model, in ms. */
const CHECK_INTERVAL_MS = 100;

/** Errors of a row, which is rejected; other errors end the job. */
const ROW_ERRORS: ReadonlySet<string> = new Set([
  'INFERENCE_FAILED',
  'INPUT_TOO_LONG',
  'LIST_TOO_LONG',
]);

/** A batch did not end. */
export class HungModelError extends Error {
  override readonly name = 'HungModelError';
}

/** A row during inference. */
export interface BatchRow extends RowResult {
  /** Model input; null: rejected row, or already in the engine. */
  input: unknown;
  /** Whether a batch with the row exceeded INFERENCE_TIMEOUT_MS in an interrupted job. */
  readonly hasOverrun: boolean;
}

interface SizedRow {
  readonly item: BatchRow;
  readonly length: number;
}

export interface DispatcherParts {
  readonly task: RowTask;
  /** Called for each row that has a result or is rejected. */
  readonly onEnded: () => void;
  /** Called for each row of a batch that exceeds INFERENCE_TIMEOUT_MS. */
  readonly onOverrun: (item: BatchRow, reason: string) => Promise<void>;
  /** Time without a finished batch after which a model is hung, in ms. */
  readonly stuckAfterMs: number;
}

/**
 * Sends inputs to the engine, as many as keep it busy. If a batch exceeds INFERENCE_TIMEOUT_MS, each of its rows runs
 * again in a batch of its own; a row that exceeds it again is rejected.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  /** Number of unfinished inputs, and their total length. */
  #inputs = 0;
  #length = 0;
  /** Number of unfinished inputs in the engine. */
  #running = 0;
  /** Number of unfinished inputs that need a batch of their own. */
  #isolated = 0;
  /** Resolves after the last isolated input. */
  #lastIsolated: Promise<unknown> = Promise.resolve();
  /** Notified when one of these numbers changes. */
  readonly #changes = new ConditionVariable();
  #lastEnd = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** Rejects with RunError or HungModelError when the job cannot continue; running inputs may never end. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => {};

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#checkForHang(), CHECK_INTERVAL_MS);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {}); // Callers that await `failed` get the error.
  }

  /**
   * Runs the items of a chunk. Resolves when the last item is in the engine.
   *
   * @returns `ended` resolves when all items are finished; never after a failure
   */
  async dispatch(items: readonly BatchRow[]): Promise<{ readonly ended: Promise<unknown> }> {
    const running: Promise<void>[] = [];
    for (const rows of this.#toLists(this.#sortByLength(items))) {
      const length = totalLength(rows);
      while (!this.#hasCapacity(length)) await this.#changes.next();
      running.push(this.#takeList(rows, length));
    }
    return { ended: Promise.all(running) };
  }

  readonly close = (): void => clearInterval(this.#timer);

  /**
   * Sorts by length, longest first: a long input at the end would run while other workers are idle. TorchScript models
   * need 6 to 15 % less CPU time, because they run inputs of equal length together (node bench/classify.mjs --orders).
   */
  #sortByLength(items: readonly BatchRow[]): readonly SizedRow[] {
    const { task, onEnded } = this.#parts;
    const left = items.filter((item) => item.problem === null);
    for (let i = left.length; i < items.length; i++) onEnded();
    return left
      .map((item) => ({ item, length: task.inputLength(item.input) }))
      .sort((a, b) => b.length - a.length);
  }

  /** Rows that run together: one, unless the task runs lists. */
  #toLists(rows: readonly SizedRow[]): readonly (readonly SizedRow[])[] {
    const lists: SizedRow[][] = [];
    let isOpen = false;
    let length = 0; // of the last list
    for (const row of rows) {
      const last = lists.at(-1);
      const canJoin = this.#parts.task.runAll !== undefined && !row.item.hasOverrun;
      const fits = last && last.length < MAX_LIST_ROWS && length < MAX_LIST_LENGTH;
      if (canJoin && isOpen && fits) {
        last.push(row);
        length += row.length;
      } else {
        lists.push([row]);
        length = row.length;
      }
      isOpen = canJoin;
    }
    return lists;
  }

  /** Runs rows as a list. If the list fails, each row runs again as a request, which reports the error of the row. */
  async #takeList(rows: readonly SizedRow[], length: number): Promise<void> {
    const [first] = rows;
    if (rows.length === 1 && first) return this.#take(first.item, first.length);
    this.#inputs += rows.length;
    this.#length += length;
    let predictions: readonly unknown[] | null;
    try {
      predictions = await this.#runList(rows);
    } catch (error) {
      this.#fail(error as Error);
      return new Promise(() => {});
    }
    this.#inputs -= rows.length;
    this.#length -= length;
    if (predictions === null) {
      await Promise.all(rows.map((row) => this.#take(row.item, row.length)));
      return;
    }
    for (const [index, { item }] of rows.entries()) {
      item.input = null;
      item.prediction = predictions[index];
      this.#parts.onEnded();
    }
    this.#changes.notify();
  }

  /** @returns null: the list failed */
  async #runList(rows: readonly SizedRow[]): Promise<readonly unknown[] | null> {
    this.#begin(rows.length);
    try {
      return (await this.#parts.task.runAll?.(rows.map(({ item }) => item.input))) ?? null;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return null;
    } finally {
      this.#end(rows.length);
    }
  }

  #begin(inputs: number): void {
    if (this.#running === 0) this.#lastEnd = performance.now();
    this.#running += inputs;
  }

  #end(inputs: number): void {
    this.#running -= inputs;
    this.#lastEnd = performance.now();
    this.#changes.notify();
  }

  #hasCapacity(length: number): boolean {
    if (this.#isolated > 0) return false;
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
      if (overrun !== null) item.problem = await this.#runIsolated(item, input);
    } catch (error) {
      this.#fail(error as Error);
      return new Promise(() => {});
    }
    this.#inputs--;
    this.#length -= length;
    this.#changes.notify();
    this.#parts.onEnded();
  }

  /** @returns the timeout error of the batch, or null */
  async #run(item: BatchRow, input: unknown): Promise<string | null> {
    this.#begin(1);
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
      this.#end(1);
    }
  }

  /** Runs an input in a batch of its own, while the engine has no other input. */
  #runIsolated(item: BatchRow, input: unknown): Promise<string | null> {
    this.#isolated++;
    const result = this.#lastIsolated.then(async () => {
      while (this.#running > 0) await this.#changes.next();
      return (await this.#run(item, input)) ?? item.problem;
    });
    this.#lastIsolated = result.catch(() => {});
    return result.finally(() => {
      this.#isolated--;
      this.#changes.notify();
    });
  }

  /** Fails the job if all workers are stuck. */
  #checkForHang(): void {
    const { task, stuckAfterMs } = this.#parts;
    if (this.#running === 0 || performance.now() - this.#lastEnd < stuckAfterMs) return;
    const { stuckMs } = task.model.monitor;
    if (stuckMs === 0) return;
    const seconds = Math.round(stuckMs / 1000);
    this.#fail(
      new HungModelError(
        `the model is stuck in a batch for ${seconds} s. Continue without the rows of this batch with --resume`,
      ),
    );
  }
}

function totalLength(rows: readonly SizedRow[]): number {
  return rows.reduce((sum, { length }) => sum + length, 0);
}
