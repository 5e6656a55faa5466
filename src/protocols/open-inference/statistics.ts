import type { Completion, EngineMonitor } from '../../native/engine';
import type { ServedModel } from '../../tasks/served-model';

const NS_PER_MS = 1e6;

/** Triton's StatisticDuration for durations that this server does not measure. */
const NONE = { count: 0, ns: 0 };
const NO_RUNS = { count: 0, ms: 0 };

/** Counters of a model. Times are sums over successful inputs. */
interface Counts {
  /** Time of the last inference in ms since the Unix epoch; 0: no inference yet. */
  lastInference: number;
  succeeded: number;
  failed: number;
  queueMs: number;
  tokenizationMs: number;
  inferenceMs: number;
  /** Number and duration of batches by batch size. */
  readonly batches: Map<number, { count: number; ms: number }>;
}

/**
 * Returns the statistics of a model over all routes; null if the model is not loaded. All callers
 * share one object per model.
 */
export function statisticsOf(
  served: ServedModel<{ readonly monitor: EngineMonitor }>,
): ModelStatistics | null {
  const cached = STATISTICS.get(served);
  if (cached) return cached;
  const { model } = served;
  if (!model) return null;
  const statistics = new ModelStatistics(model.monitor);
  STATISTICS.set(served, statistics);
  return statistics;
}

const STATISTICS = new WeakMap<object, ModelStatistics>();

/**
 * Statistics in the format of Triton's statistics extension. Each element (text, window) counts as
 * a request.
 */
export class ModelStatistics {
  readonly #monitor: EngineMonitor;
  readonly #counts: Counts = {
    lastInference: 0,
    succeeded: 0,
    failed: 0,
    queueMs: 0,
    tokenizationMs: 0,
    inferenceMs: 0,
    batches: new Map(),
  };

  constructor(monitor: EngineMonitor) {
    this.#monitor = monitor;
    monitor.observe((completions) => this.#record(completions));
  }

  #record(completions: readonly Completion[]): void {
    const counts = this.#counts;
    for (const completion of completions) {
      const { count: inputs = 1 } = completion;
      if (completion.code !== undefined) {
        counts.failed += inputs;
        continue;
      }
      const { batchSize, batchTokens, queueMs, tokenizationMs, inferenceMs } = completion;
      if (batchTokens > 0) {
        const { count, ms } = counts.batches.get(batchSize) ?? NO_RUNS;
        counts.batches.set(batchSize, { count: count + 1, ms: ms + inferenceMs });
      }
      counts.succeeded += inputs;
      counts.queueMs += queueMs * inputs;
      counts.tokenizationMs += tokenizationMs;
      counts.inferenceMs += inferenceMs * inputs;
    }
    if (completions.length > 0) counts.lastInference = Date.now();
  }

  /** @param model name and version in the response */
  describe({ name, version }: { readonly name: string; readonly version: string }) {
    const counts = this.#counts;
    const count = counts.succeeded;
    const took = (ms: number) => ({ count, ns: nanoseconds(ms) });
    const { batches, cacheHits, cacheMisses } = this.#monitor.stats();
    return {
      name,
      version,
      last_inference: counts.lastInference,
      inference_count: count,
      execution_count: batches,
      inference_stats: {
        success: took(counts.queueMs + counts.tokenizationMs + counts.inferenceMs),
        fail: { count: counts.failed, ns: 0 }, // duration not measured
        queue: took(counts.queueMs),
        compute_input: took(counts.tokenizationMs),
        compute_infer: took(counts.inferenceMs),
        compute_output: NONE,
        cache_hit: { count: cacheHits, ns: 0 }, // duration not measured
        cache_miss: { count: cacheMisses, ns: 0 },
      },
      batch_stats: [...counts.batches].map(([size, runs]) => ({
        batch_size: size,
        compute_input: NONE,
        compute_infer: { count: runs.count, ns: nanoseconds(runs.ms) },
        compute_output: NONE,
      })),
    };
  }
}

function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * NS_PER_MS);
}
