import type { EngineMonitor } from '../native/engine';
import { ConnectionMetrics } from './connection-metrics';
import { EngineMetrics, type ServedModel } from './engine-metrics';
import { gauge, information } from './family';
import { processFamilies } from './process-metrics';
import { createRegistry } from './registry';
import { RequestMetrics } from './request-metrics';

export interface MetricsOptions {
  readonly packageVersion: string;
  /** Null: it could not be loaded. */
  readonly model: { readonly engine: EngineMonitor; readonly served: ServedModel } | null;
  readonly requestsInFlight: () => number;
  readonly connections: () => number;
}

/** All metrics of one process. */
export interface Metrics {
  readonly requests: RequestMetrics;
  readonly connections: ConnectionMetrics;
  readonly contentType: string;
  /** In the text format of Prometheus. */
  readonly expose: () => Promise<string>;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { packageVersion, model, requestsInFlight } = options;
  const requests = new RequestMetrics();
  const connections = new ConnectionMetrics();
  const registry = createRegistry([
    information('libtorch_serve_build_info', 'What runs.', {
      version: packageVersion,
      node_version: process.versions.node,
    }),
    gauge('libtorch_serve_model_loaded', '1: a model is loaded, 0: it could not be.', () =>
      model ? 1 : 0,
    ),
    gauge(
      'libtorch_serve_http_requests_in_flight',
      'Requests that are not answered yet, the one that reads this included.',
      requestsInFlight,
    ),
    ...requests.families(),
    ...connections.families(options.connections),
    ...(model ? new EngineMetrics(model.engine, model.served).families() : []),
    ...processFamilies(),
  ]);
  const { contentType } = registry;
  return { requests, connections, contentType, expose: () => registry.metrics() };
}
