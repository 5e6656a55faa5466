import type { EngineMonitor } from '../../native/engine';
import type { Credentials } from '../credentials/credentials';
import { engineFamilies, type ModelInfo } from './engine-metrics';
import { byLabel, counter, type Family, gauge, information, type Sample, zeros } from './family';
import { processFamilies } from './process-metrics';
import { CONTENT_TYPE, expose } from './registry';
import { RequestMetrics } from './request-metrics';
import type { StreamMetrics } from './stream-metrics';

/**
 * Reasons why the service closed a connection: it was the connection with the longest idle time when all were in use;
 * all connections were in use and had requests in progress; its body was received too slowly; it opened too many
 * streams; the client did not take the response; the TLS handshake failed.
 */
const CONNECTION_ENDS = [
  'evicted',
  'rejected',
  'body_stalled',
  'stream_flood',
  'response_stalled',
  'tls_failed',
] as const;
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

const LOAD_FAILED = 'libtorch_serve_model_load_failed';
const LOAD_FAILED_HELP =
  '1: the current content of the model folder could not be loaded; a version loaded before stays in use.';

const STREAMS_HELP = 'Open gRPC streams whose messages are counted as requests.';

export interface MeasuredModel {
  readonly engine: EngineMonitor;
  readonly info: ModelInfo;
  /** Labels of all metrics of the model. */
  readonly labels: Sample['labels'];
  /** Creates additional metrics with labels of their own. */
  readonly additional?: () => readonly Family[];
}

export interface MetricsOptions {
  readonly packageVersion: string;
  /** One sample per model: 1 if it is loaded. */
  readonly loaded: () => readonly Sample[];
  /** One sample per model folder: 1 if its current content could not be loaded. Null: no model folders. */
  readonly loadFailed: (() => readonly Sample[]) | null;
  /** The loaded models at the time of the call. */
  readonly models: () => readonly MeasuredModel[];
  /** Additional metrics of the service. */
  readonly additional: () => readonly Family[];
  readonly requestsInFlight: () => number;
  readonly connections: () => number;
  /** Number of open gRPC streams whose messages are requests; null: no gRPC port. */
  readonly grpcStreams: (() => number) | null;
  readonly credentials: Credentials;
  readonly signalStreams: StreamMetrics;
}

/** All metrics of the process. */
export interface Metrics {
  readonly requests: RequestMetrics;
  /** Starts to count the inputs of newly loaded models. */
  readonly observeModels: () => void;
  readonly countConnectionEnd: (end: ConnectionEnd) => void;
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  readonly expose: () => string;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { packageVersion, loaded, loadFailed, models, requestsInFlight } = options;
  const requests = new RequestMetrics();
  const connectionEnds = zeros(CONNECTION_ENDS);
  const serviceFamilies = [
    information('libtorch_serve_build_info', 'Version of the package and of Node.js.', {
      version: packageVersion,
      node_version: process.versions.node,
    }),
    gauge('libtorch_serve_model_loaded', '1: the model is loaded.', loaded),
    ...(loadFailed ? [gauge(LOAD_FAILED, LOAD_FAILED_HELP, loadFailed)] : []),
    gauge(
      'libtorch_serve_http_requests_in_flight',
      'Requests in progress, including this scrape.',
      requestsInFlight,
    ),
    ...requests.families(),
    ...options.signalStreams.families(),
    gauge('libtorch_serve_http_connections', 'Open connections.', options.connections),
    counter(
      'libtorch_serve_http_connections_closed_total',
      'Connections closed by the service, by reason.',
      () => byLabel('reason', connectionEnds),
    ),
    ...(options.grpcStreams
      ? [gauge('libtorch_serve_grpc_streams', STREAMS_HELP, options.grpcStreams)]
      : []),
    options.credentials.family(),
  ];
  const ofProcess = processFamilies();
  const ofModels = new ModelFamilies();
  const families = (): readonly Family[] => [
    ...serviceFamilies,
    ...options.additional(),
    ...ofModels.of(models()),
    ...ofProcess,
  ];
  return {
    requests,
    observeModels: () => {
      ofModels.of(models());
    },
    countConnectionEnd: (end) => {
      connectionEnds[end]++;
    },
    contentType: CONTENT_TYPE,
    expose: () => expose(families()),
  };
}

/** Metrics of all loaded models. Families of one name are merged; their samples have the labels of the models. */
class ModelFamilies {
  /** Metrics of each model, which are counted from the first call on. */
  readonly #byEngine = new WeakMap<EngineMonitor, readonly Family[]>();

  of(models: readonly MeasuredModel[]): readonly Family[] {
    const merged = new Map<string, Family>();
    for (const family of models.flatMap((model) => this.#familiesOf(model))) {
      const others = merged.get(family.name);
      const read = (): readonly Sample[] => [...(others?.read() ?? []), ...family.read()];
      merged.set(family.name, { ...family, read });
    }
    return [...merged.values()];
  }

  #familiesOf({ engine, info, labels, additional }: MeasuredModel): readonly Family[] {
    const existing = this.#byEngine.get(engine);
    if (existing) return existing;
    const own = engineFamilies(engine, info).map((family) => ({
      ...family,
      read: () =>
        family.read().map((sample) => ({ ...sample, labels: { ...labels, ...sample.labels } })),
    }));
    const families = [...own, ...(additional?.() ?? [])];
    this.#byEngine.set(engine, families);
    return families;
  }
}
