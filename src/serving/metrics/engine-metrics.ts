import type { EngineMonitor } from '../../native/engine';
import { ERRORS } from '../errors';
import { byLabel, counter, type Family, gauge, information, type Sample } from './family';
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
export function engineFamilies(engine: EngineMonitor, model: ServedModel): readonly Family[] {
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
      if (completion.batchSize > 0) inference.observe(completion.inferenceMs / 1000);
      queue.observe(completion.queueMs / 1000);
      if (model.tokenizes) tokenization.observe(completion.tokenizationMs / 1000);
      if (completion.truncated) truncated++;
    }
  });

  const ofTexts = [
    histogram(
      'libtorch_serve_tokenization_duration_seconds',
      'How long an answered text took to tokenize.',
      () => [tokenization],
    ),
    counter(
      'libtorch_serve_inputs_truncated_total',
      "Answered texts that were cut to the model's limit.",
      () => truncated,
    ),
  ];
  return [
    ...familiesOfEngine(engine, model),
    counter(
      'libtorch_serve_queue_refusals_total',
      "Requests that the model's queue refused, by reason; a list is one.",
      () => refusalsOf(engine),
    ),
    histogram(
      'libtorch_serve_queue_duration_seconds',
      'How long an answered input waited, before and after tokenization.',
      () => [queue],
    ),
    histogram(
      'libtorch_serve_inference_duration_seconds',
      'How long the batch of an answered input ran; one value for each input.',
      () => [inference],
    ),
    histogram('libtorch_serve_batch_size_inputs', 'Inputs of a batch that gave answers.', () => [
      batchSize,
    ]),
    histogram(
      'libtorch_serve_batch_size_tokens',
      'Tokens of a batch that gave answers, special tokens included; a window counts as 1.',
      () => [batchTokens],
    ),
    ...(model.tokenizes ? ofTexts : []),
  ];
}

/** What the engine itself counts, for all who use it. */
function familiesOfEngine(engine: EngineMonitor, model: ServedModel): readonly Family[] {
  const { backend, products } = engine.description;
  const { name, version, dtype, packageVersion, libtorchVersion } = model;
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
      () => engine.stats().queueRequests,
    ),
    gauge(
      'libtorch_serve_queue_limit_inputs',
      'Inputs that may wait; more are refused (MAX_QUEUE_REQUESTS).',
      () => engine.stats().queueRequestsLimit,
    ),
    gauge(
      'libtorch_serve_queue_expected_wait_seconds',
      'Expected until an input that comes now begins to run, from what waits and the pace of late.',
      () => engine.stats().queueWaitMs / 1000,
    ),
    gauge(
      'libtorch_serve_queue_wait_limit_seconds',
      'Expected wait over which requests are refused (MAX_QUEUE_WAIT_MS).',
      () => engine.stats().queueWaitLimitMs / 1000,
    ),
    counter('libtorch_serve_inputs_total', 'Inputs that the queue took, by how they ended.', () => {
      const { completed: answered, failed, cancelled, expired, ...stats } = engine.stats();
      const { timedOut: timed_out, tooLong: too_long } = stats;
      return byLabel('outcome', { answered, failed, cancelled, expired, timed_out, too_long });
    }),
    counter(
      'libtorch_serve_batches_total',
      'Runs of the model, failed ones included.',
      () => engine.stats().batches,
    ),
    ...(model.tokenizes ? cacheFamilies(engine) : []),
  ];
}

/** Answers to texts that may come again. */
function cacheFamilies(engine: EngineMonitor): readonly Family[] {
  return [
    counter(
      'libtorch_serve_result_cache_hits_total',
      'Texts that were answered without a run, because equal ones had been (RESULT_CACHE_MB).',
      () => engine.stats().cacheHits,
    ),
    counter(
      'libtorch_serve_result_cache_misses_total',
      'Texts that were run, where answers are kept (RESULT_CACHE_MB).',
      () => engine.stats().cacheMisses,
    ),
    gauge(
      'libtorch_serve_result_cache_bytes',
      'Memory of the answers that are kept.',
      () => engine.stats().cacheBytes,
    ),
  ];
}

function refusalsOf({ refusals }: EngineMonitor): readonly Sample[] {
  const codes = Object.keys(refusals) as (keyof typeof refusals)[];
  const named = codes.map((code) => [ERRORS[code].refusal, refusals[code]] as const);
  return byLabel('reason', Object.fromEntries(named));
}
