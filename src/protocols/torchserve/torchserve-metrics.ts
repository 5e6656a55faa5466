import { hostname } from 'node:os';
import type { EngineMonitor } from '../../native/engine';
import { counter, type Family } from '../../serving/metrics/family';

const MICROSECONDS_PER_MS = 1000;

/** Metrics of a model under the names and labels of TorchServe, for existing dashboards. An input counts as a request. */
export function torchServeFamilies(
  engine: EngineMonitor,
  { name, version }: { readonly name: string; readonly version: string },
): readonly Family[] {
  let requests = 0;
  let latencyMs = 0;
  let queueMs = 0;
  engine.observe((completions) => {
    for (const completion of completions) {
      const { count = 1 } = completion;
      requests += count;
      if (completion.code !== undefined) continue;
      const { tokenizationMs, inferenceMs } = completion;
      latencyMs += (completion.queueMs + inferenceMs) * count + tokenizationMs;
      queueMs += completion.queueMs * count;
    }
  });
  const labels = { model_name: name, model_version: version, hostname: hostname() };
  const total = (metric: string, help: string, read: () => number): Family =>
    counter(metric, help, () => [{ labels, value: read() }]);
  return [
    total(
      'ts_inference_requests_total',
      'Completed inputs, under the metric name that TorchServe uses for requests.',
      () => requests,
    ),
    total(
      'ts_inference_latency_microseconds',
      'Sum over completed inputs: time from the arrival in the queue to the result.',
      () => Math.round(latencyMs * MICROSECONDS_PER_MS),
    ),
    total('ts_queue_latency_microseconds', 'Sum over completed inputs: queue wait.', () =>
      Math.round(queueMs * MICROSECONDS_PER_MS),
    ),
  ];
}
