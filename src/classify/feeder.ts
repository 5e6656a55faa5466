import { EngineError } from '../native/engine';
import type { Item } from './chunks';
import { RunError, StuckError } from './errors';
import type { Task } from './task';

/** Enough for each worker to find its next batches waiting, whatever this thread does meanwhile. */
const MOST_INPUTS = 1024;
/** Of their lengths: the engine's queue takes 64 MiB of inputs. */
const MOST_LENGTH = 16 * 1024 ** 2;

/** The fault is the row's own, so it goes to the rejects; any other one is about the run. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['INFERENCE_FAILED', 'INPUT_TOO_LONG']);

/** Hands inputs to the engine, as many at a time as keep it busy. */
export class Feeder {
  readonly #task: Task;
  readonly #onEnded: () => void;
  #inputs = 0;
  #length = 0;
  #wake: () => void = () => {};
  /** Once the run cannot go on: the rest may never end. */
  #failure: Error | null = null;

  /** @param onEnded called for each row that has its answer, or has none for good */
  constructor(task: Task, onEnded: () => void) {
    this.#task = task;
    this.#onEnded = onEnded;
  }

  /**
   * Runs a chunk's items; returns when the last one has been handed over.
   *
   * @returns resolves when all have ended; rejects with RunError or StuckError
   * @throws the same
   */
  async feed(items: readonly Item[]): Promise<{ readonly ended: Promise<void> }> {
    const running: Promise<void>[] = [];
    for (const { item, length } of this.#inOrder(items)) {
      while (!this.#hasRoom(length) && !this.#failure) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#failure) throw this.#failure;
      running.push(this.#run(item, length));
    }
    const ended = Promise.all(running).then(() => {});
    ended.catch(() => {}); // whoever waits for it is told
    return { ended };
  }

  /** Longest first: then no long one is left over at the end, when other workers have nothing to do. */
  #inOrder(items: readonly Item[]) {
    const left = items.filter((item) => item.problem === null);
    for (let i = left.length; i < items.length; i++) this.#onEnded();
    return left
      .map((item) => ({ item, length: this.#task.lengthOf(item.input) }))
      .sort((a, b) => b.length - a.length);
  }

  #hasRoom(length: number): boolean {
    if (this.#inputs === 0) return true;
    return this.#inputs < MOST_INPUTS && this.#length + length <= MOST_LENGTH;
  }

  async #run(item: Item, length: number): Promise<void> {
    const { input } = item;
    item.input = null;
    this.#inputs++;
    this.#length += length;
    try {
      item.answer = await this.#task.run(input);
    } catch (error) {
      if (!(error instanceof EngineError && OWN_FAULTS.has(error.code))) {
        this.#failure ??= failureOf(error);
        throw this.#failure;
      }
      item.problem = error.message;
    } finally {
      this.#inputs--;
      this.#length -= length;
      this.#wake();
      this.#onEnded();
    }
  }
}

function failureOf(error: unknown): Error {
  if (!(error instanceof EngineError)) return error as Error;
  const { code, message } = error;
  return code === 'INFERENCE_TIMEOUT' ? new StuckError(message) : new RunError(message);
}
