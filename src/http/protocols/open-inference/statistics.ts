import type { Completion, EngineMonitor } from '../../../native/engine';
import { VERSION } from './model';

const NS_PER_MS = 1e6;

/** As StatisticDuration of Triton. */
class Duration {
  #count = 0;
  #ns = 0;

  add(ms: number): void {
    this.#count++;
    this.#ns += ms * NS_PER_MS;
  }

  describe() {
    return { count: this.#count, ns: Math.round(this.#ns) };
  }
}

/** What Triton's statistics extension tells of a model, of all routes: an element (a text, a window) counts as a request. */
export class ModelStatistics {
  readonly #name: string;
  readonly #monitor: EngineMonitor;
  #lastInference = 0;
  readonly #success = new Duration();
  readonly #fail = new Duration();
  readonly #queue = new Duration();
  readonly #tokenization = new Duration();
  readonly #inference = new Duration();
  /** Runs, by how many elements they had. */
  readonly #batches = new Map<number, Duration>();
  /** Of the batch whose answers come: how many are still to come. */
  #left = 0;

  constructor(name: string, monitor: EngineMonitor) {
    this.#name = name;
    this.#monitor = monitor;
    monitor.observe((completions) => this.#record(completions));
  }

  /** Answers of one batch stand together, one after the other. */
  #record(completions: readonly Completion[]): void {
    this.#left = 0;
    for (const completion of completions) {
      if (completion.code !== undefined) {
        this.#fail.add(0); // how long it took is not told
        continue;
      }
      const { batchSize, queueMs, tokenizationMs, inferenceMs } = completion;
      if (this.#left === 0) {
        this.#batch(batchSize).add(inferenceMs);
        this.#left = batchSize;
      }
      this.#left--;
      this.#success.add(queueMs + tokenizationMs + inferenceMs);
      this.#queue.add(queueMs);
      this.#tokenization.add(tokenizationMs);
      this.#inference.add(inferenceMs);
    }
    if (completions.length > 0) this.#lastInference = Date.now();
  }

  #batch(size: number): Duration {
    const known = this.#batches.get(size);
    if (known) return known;
    const batch = new Duration();
    this.#batches.set(size, batch);
    return batch;
  }

  describe() {
    const none = new Duration().describe();
    return {
      name: this.#name,
      version: VERSION,
      last_inference: this.#lastInference,
      inference_count: this.#success.describe().count,
      execution_count: this.#monitor.stats().batches,
      inference_stats: {
        success: this.#success.describe(),
        fail: this.#fail.describe(),
        queue: this.#queue.describe(),
        compute_input: this.#tokenization.describe(),
        compute_infer: this.#inference.describe(),
        compute_output: none,
        cache_hit: none,
        cache_miss: none,
      },
      batch_stats: [...this.#batches].map(([size, run]) => ({
        batch_size: size,
        compute_input: none,
        compute_infer: run.describe(),
        compute_output: none,
      })),
    };
  }
}
