import { hostname } from 'node:os';
import type { EngineMonitor } from '../../native/engine';
import { counter, type Family, type Sample } from './family';

const MICROSECONDS_PER_MS = 1000;

/**
 * What TorchServe counts of a model, under its names, for dashboards that know them: an input is a request
 * there. Its labels are those of `label`.
 */
export function torchServeFamilies(engine: EngineMonitor): readonly Family[] {
  let requests = 0;
  let latencyMs = 0;
  let queueMs = 0;
  engine.observe((completions) => {
    for (const completion of completions) {
      requests++;
      if (completion.code !== undefined) continue;
      const { queueMs: waited, tokenizationMs, inferenceMs } = completion;
      latencyMs += waited + tokenizationMs + inferenceMs;
      queueMs += waited;
    }
  });
  return [
    counter(
      'ts_inference_requests_total',
      'Inputs that were taken and have ended, as TorchServe names them.',
      () => requests,
    ),
    counter(
      'ts_inference_latency_microseconds',
      'Sum over answered inputs: from their arrival in the queue to their answer.',
      () => Math.round(latencyMs * MICROSECONDS_PER_MS),
    ),
    counter(
      'ts_queue_latency_microseconds',
      'Sum over answered inputs: how long they waited.',
      () => Math.round(queueMs * MICROSECONDS_PER_MS),
    ),
  ];
}

/** The labels of TorchServe's names, of ours. */
export function torchServeLabels({ model = '', version = '' }: Sample['labels']): Sample['labels'] {
  return { model_name: model, model_version: version, hostname: hostname() };
}
