import type { Completion, EngineMonitor } from '../../native/engine';
import type { Gather, Gathered } from '../../serving/peers';
import { VERSION } from './model';

const NS_PER_MS = 1e6;

/** As StatisticDuration of Triton. */
export interface Duration {
  readonly count: number;
  readonly ns: number;
}

const NONE: Duration = { count: 0, ns: 0 };

function plus(a: Duration, b: Duration): Duration {
  return { count: a.count + b.count, ns: a.ns + b.ns };
}

/** What one event loop has counted. */
interface Counts {
  /** Since the Unix epoch, in ms; 0: none yet. */
  readonly lastInference: number;
  readonly success: Duration;
  readonly fail: Duration;
  readonly queue: Duration;
  readonly tokenization: Duration;
  readonly inference: Duration;
  /** Runs, by how many elements they had. */
  readonly batches: ReadonlyMap<number, Duration>;
}

/** What Triton's statistics extension tells of a model, of all routes: an element (a text, a window) counts as a request. */
export class ModelStatistics {
  readonly #name: string;
  readonly #monitor: EngineMonitor;
  readonly #gatherCounts: () => Promise<Gathered<Counts>>;
  readonly #batches = new Map<number, Duration>();
  #lastInference = 0;
  #succeeded = 0;
  #failed = 0;
  #queueMs = 0;
  #tokenizationMs = 0;
  #inferenceMs = 0;

  constructor(name: string, monitor: EngineMonitor, gather: Gather) {
    this.#name = name;
    this.#monitor = monitor;
    this.#gatherCounts = gather('statistics of the model', () => this.#counts());
    monitor.observe((completions) => this.#record(completions));
  }

  #record(completions: readonly Completion[]): void {
    for (const completion of completions) {
      if (completion.code !== undefined) {
        this.#failed++;
        continue;
      }
      const { batchSize, batchTokens, queueMs, tokenizationMs, inferenceMs } = completion;
      if (batchTokens > 0) {
        const run = { count: 1, ns: inferenceMs * NS_PER_MS };
        this.#batches.set(batchSize, plus(this.#batches.get(batchSize) ?? NONE, run));
      }
      this.#succeeded++;
      this.#queueMs += queueMs;
      this.#tokenizationMs += tokenizationMs;
      this.#inferenceMs += inferenceMs;
    }
    if (completions.length > 0) this.#lastInference = Date.now();
  }

  #counts(): Counts {
    const took = (ms: number): Duration => ({ count: this.#succeeded, ns: ms * NS_PER_MS });
    return {
      lastInference: this.#lastInference,
      success: took(this.#queueMs + this.#tokenizationMs + this.#inferenceMs),
      fail: { count: this.#failed, ns: 0 }, // how long it took is not told
      queue: took(this.#queueMs),
      tokenization: took(this.#tokenizationMs),
      inference: took(this.#inferenceMs),
      batches: this.#batches,
    };
  }

  /** Of all event loops. */
  async describe() {
    const { values: counts } = await this.#gatherCounts();
    const sum = (of: (counts: Counts) => Duration): Duration => {
      const { count, ns } = counts.map(of).reduce(plus, NONE);
      return { count, ns: Math.round(ns) };
    };
    const success = sum((loop) => loop.success);
    return {
      name: this.#name,
      version: VERSION,
      last_inference: Math.max(...counts.map(({ lastInference }) => lastInference)),
      inference_count: success.count,
      execution_count: this.#monitor.stats().batches,
      inference_stats: {
        success,
        fail: sum((loop) => loop.fail),
        queue: sum((loop) => loop.queue),
        compute_input: sum((loop) => loop.tokenization),
        compute_infer: sum((loop) => loop.inference),
        compute_output: NONE,
        cache_hit: NONE,
        cache_miss: NONE,
      },
      batch_stats: sizesOf(counts).map((size) => ({
        batch_size: size,
        compute_input: NONE,
        compute_infer: sum(({ batches }) => batches.get(size) ?? NONE),
        compute_output: NONE,
      })),
    };
  }
}

function sizesOf(counts: readonly Counts[]): readonly number[] {
  return [...new Set(counts.flatMap(({ batches }) => [...batches.keys()]))];
}
