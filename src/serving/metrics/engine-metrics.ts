import type { EngineMonitor } from '../../native/engine';
import { ERRORS } from '../errors';
import { byLabel, counter, type Family, gauge, information, type Sample } from './family';
import { DURATION_BOUNDS, Histogram, histogram, powersOfTwo } from './histogram';

/** Labels of model_info. */
export interface ModelInfo {
  readonly name: string;
  /** Empty if unknown. */
  readonly version: string;
  readonly dtype: string;
  readonly packageVersion: string;
  readonly libtorchVersion: string;
  /** True if the inputs are texts. */
  readonly tokenizes: boolean;
}

/** Metrics of an engine. An input is a text or a window: one entry of its queue. */
export function engineFamilies(engine: EngineMonitor, model: ModelInfo): readonly Family[] {
  const queue = new Histogram(DURATION_BOUNDS);
  const tokenization = new Histogram(DURATION_BOUNDS);
  const inference = new Histogram(DURATION_BOUNDS);
  const batchSize = new Histogram(powersOfTwo(4096));
  const batchTokens = new Histogram(powersOfTwo(16384));
  let truncated = 0;

  engine.observe((completions) => {
    for (const completion of completions) {
      if (completion.code !== undefined) continue;
      if (completion.batchTokens > 0) {
        batchSize.observe(completion.batchSize);
        batchTokens.observe(completion.batchTokens);
      }
      const { count = 1, list } = completion;
      if (completion.batchSize > 0) inference.observe(completion.inferenceMs / 1000, count);
      queue.observe(completion.queueMs / 1000, count);
      if (model.tokenizes) tokenization.observe(completion.tokenizationMs / 1000 / count, count);
      truncated += list ? sum(list.truncated) : Number(completion.truncated);
    }
  });

  const textFamilies = [
    histogram(
      'libtorch_serve_tokenization_duration_seconds',
      'Tokenization time of a completed text.',
      () => [tokenization],
    ),
    counter(
      'libtorch_serve_inputs_truncated_total',
      "Completed texts that were truncated to the model's maximum length.",
      () => truncated,
    ),
  ];
  return [
    ...statsFamilies(engine, model),
    counter(
      'libtorch_serve_queue_rejected_requests_total',
      "Requests that the model's queue rejected, by reason; a list is one request.",
      () => rejectionsOf(engine),
    ),
    histogram(
      'libtorch_serve_queue_duration_seconds',
      'Queue wait of a completed input, before and after tokenization.',
      () => [queue],
    ),
    histogram(
      'libtorch_serve_inference_duration_seconds',
      'Run time of the batch of a completed input; one value per input.',
      () => [inference],
    ),
    histogram('libtorch_serve_batch_size_inputs', 'Inputs per completed batch.', () => [batchSize]),
    histogram(
      'libtorch_serve_batch_size_tokens',
      'Tokens per completed batch, including special tokens; a window counts as 1.',
      () => [batchTokens],
    ),
    ...(model.tokenizes ? textFamilies : []),
  ];
}

function sum(values: Uint32Array): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Metrics that the engine counts. */
function statsFamilies(engine: EngineMonitor, model: ModelInfo): readonly Family[] {
  const { backend, products } = engine.description;
  const { name, version, dtype, packageVersion, libtorchVersion } = model;
  return [
    information('libtorch_serve_model_info', 'The loaded model.', {
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
      'Inputs (texts, windows) in the queue.',
      () => engine.stats().queueRequests,
    ),
    gauge(
      'libtorch_serve_queue_limit_inputs',
      'Queue capacity in inputs; further inputs are rejected (MAX_QUEUE_REQUESTS).',
      () => engine.stats().queueRequestsLimit,
    ),
    gauge(
      'libtorch_serve_queue_expected_wait_seconds',
      'Expected queue wait of a new input, from the queue length and the recent throughput.',
      () => engine.stats().queueWaitMs / 1000,
    ),
    gauge(
      'libtorch_serve_queue_wait_limit_seconds',
      'Expected queue wait above which requests are rejected (MAX_QUEUE_WAIT_MS).',
      () => engine.stats().queueWaitLimitMs / 1000,
    ),
    counter('libtorch_serve_inputs_total', 'Accepted inputs by outcome.', () => {
      const { completed, failed, cancelled, expired, ...stats } = engine.stats();
      const { timedOut: timed_out, tooLong: too_long } = stats;
      return byLabel('outcome', { completed, failed, cancelled, expired, timed_out, too_long });
    }),
    counter(
      'libtorch_serve_batches_total',
      'Batches, including failed batches.',
      () => engine.stats().batches,
    ),
    ...(model.tokenizes ? reuseFamilies(engine) : []),
  ];
}

/** Metrics of shared encoders and of the result cache. */
function reuseFamilies(engine: EngineMonitor): readonly Family[] {
  return [
    counter(
      'libtorch_serve_encoder_reused_total',
      'Texts that the encoder did not process again for this model: an equal encoder of another model had.',
      () => engine.stats().reusedStates,
    ),
    counter(
      'libtorch_serve_result_cache_hits_total',
      'Texts whose result was in the cache (RESULT_CACHE_MB).',
      () => engine.stats().cacheHits,
    ),
    counter(
      'libtorch_serve_result_cache_misses_total',
      'Texts whose result was not in the cache (RESULT_CACHE_MB).',
      () => engine.stats().cacheMisses,
    ),
    gauge(
      'libtorch_serve_result_cache_bytes',
      'Memory of the cached results.',
      () => engine.stats().cacheBytes,
    ),
  ];
}

function rejectionsOf({ refusals }: EngineMonitor): readonly Sample[] {
  const codes = Object.keys(refusals) as (keyof typeof refusals)[];
  const named = codes.map((code) => [ERRORS[code].rejection, refusals[code]] as const);
  return byLabel('reason', Object.fromEntries(named));
}
