import type { Completion, EngineMonitor } from '../../native/engine';
import { byLabel, counter, type Family, gauge, information, ofProcess } from './family';
import { DURATION_BOUNDS, Histogram, histogram, powersOfTwo } from './histogram';

/** What is known of the model that is served, for the labels of model_info. */
export interface ServedModel {
  readonly name: string;
  /** Empty: unknown. */
  readonly version: string;
  readonly dtype: string;
  readonly packageVersion: string;
  readonly libtorchVersion: string;
  /** It takes texts. */
  readonly tokenizes: boolean;
}

/** What the engine has done. An input is a text or a window: one entry of its queue. */
export class EngineMetrics {
  readonly #engine: EngineMonitor;
  readonly #model: ServedModel;
  readonly #queue = new Histogram(DURATION_BOUNDS);
  readonly #tokenization = new Histogram(DURATION_BOUNDS);
  readonly #inference = new Histogram(DURATION_BOUNDS);
  readonly #batchSize = new Histogram(powersOfTwo(4096));
  readonly #batchTokens = new Histogram(powersOfTwo(16384));
  #truncated = 0;

  constructor(engine: EngineMonitor, model: ServedModel) {
    this.#engine = engine;
    this.#model = model;
    engine.observe((completions) => this.#record(completions));
  }

  #record(completions: readonly Completion[]): void {
    for (const completion of completions) {
      if (completion.code !== undefined) continue;
      const { batchSize, batchTokens, inferenceMs, queueMs, tokenizationMs } = completion;
      if (batchTokens > 0) {
        this.#batchSize.observe(batchSize);
        this.#batchTokens.observe(batchTokens);
      }
      this.#inference.observe(inferenceMs / 1000);
      this.#queue.observe(queueMs / 1000);
      if (this.#model.tokenizes) this.#tokenization.observe(tokenizationMs / 1000);
      if (completion.truncated) this.#truncated++;
    }
  }

  families(): readonly Family[] {
    return [
      ...this.#engineFamilies().map(ofProcess),
      histogram(
        'libtorch_serve_queue_duration_seconds',
        'How long an answered input waited, before and after tokenization.',
        this.#queue,
      ),
      histogram(
        'libtorch_serve_inference_duration_seconds',
        'How long the batch of an answered input ran; one value for each input.',
        this.#inference,
      ),
      histogram(
        'libtorch_serve_batch_size_inputs',
        'Inputs of a batch that gave answers.',
        this.#batchSize,
      ),
      histogram(
        'libtorch_serve_batch_size_tokens',
        'Tokens of a batch that gave answers, special tokens included; a window counts as 1.',
        this.#batchTokens,
      ),
      ...(this.#model.tokenizes ? this.#textFamilies() : []),
    ];
  }

  /** What the engine itself counts, for all who use it. */
  #engineFamilies(): readonly Family[] {
    const { packageVersion, libtorchVersion, name, version, dtype } = this.#model;
    const { backend, products } = this.#engine.description;
    return [
      information('libtorch_serve_model_info', 'The model that is loaded.', {
        name,
        version,
        dtype,
        backend,
        ...products,
        package_version: packageVersion,
        libtorch_version: libtorchVersion,
      }),
      gauge(
        'libtorch_serve_queue_inputs',
        'Inputs (texts, windows) that wait.',
        () => this.#engine.stats().queueRequests,
      ),
      gauge(
        'libtorch_serve_queue_limit_inputs',
        'Inputs that may wait; more are refused (MAX_QUEUE_REQUESTS).',
        () => this.#engine.stats().queueRequestsLimit,
      ),
      gauge(
        'libtorch_serve_queue_expected_wait_seconds',
        'Expected until an input that comes now begins to run, from what waits and the pace of late.',
        () => this.#engine.stats().queueWaitMs / 1000,
      ),
      gauge(
        'libtorch_serve_queue_wait_limit_seconds',
        'Expected wait over which requests are refused (MAX_QUEUE_WAIT_MS).',
        () => this.#engine.stats().queueWaitLimitMs / 1000,
      ),
      counter(
        'libtorch_serve_inputs_total',
        'Inputs that the queue took, by how they ended.',
        () => {
          const stats = this.#engine.stats();
          return byLabel('outcome', {
            answered: stats.completed,
            failed: stats.failed,
            cancelled: stats.cancelled,
            expired: stats.expired,
            timed_out: stats.timedOut,
            too_long: stats.tooLong,
          });
        },
      ),
      counter('libtorch_serve_batches_total', 'Runs of the model, failed ones included.', () => [
        { labels: {}, value: this.#engine.stats().batches },
      ]),
    ];
  }

  #textFamilies(): readonly Family[] {
    return [
      histogram(
        'libtorch_serve_tokenization_duration_seconds',
        'How long an answered text took to tokenize.',
        this.#tokenization,
      ),
      counter(
        'libtorch_serve_inputs_truncated_total',
        "Answered texts that were cut to the model's limit.",
        () => [{ labels: {}, value: this.#truncated }],
      ),
    ];
  }
}
