import type { EngineMonitor } from '../../native/engine';
import type { Credentials } from '../credentials/credentials';
import { engineFamilies, type ServedModel } from './engine-metrics';
import { byLabel, counter, type Family, gauge, information, type Sample, zeros } from './family';
import { loopFamilies, processFamilies } from './process-metrics';
import { CONTENT_TYPE, expose } from './registry';
import { RequestMetrics } from './request-metrics';
import type { StreamMetrics } from './stream-metrics';
import { torchServeFamilies, torchServeLabels } from './torchserve-metrics';

/**
 * Why the service ended a connection that its client had not: it was the one that had waited for its
 * client for longest when all were in use; all were in use and owed an answer; its body had come
 * slowest when those on their way filled the memory for them; its answer was not taken; its TLS handshake
 * failed or took too long.
 */
const CONNECTION_ENDS = [
  'made_room',
  'refused',
  'body_stuck',
  'stream_flood',
  'answer_stuck',
  'tls_failed',
] as const;
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

const LOAD_FAILED = 'libtorch_serve_model_load_failed';
const LOAD_FAILED_HELP =
  '1: what the folder holds could not be loaded when it was last looked at; what was loaded before serves on.';

const STREAMS_HELP = 'Open streams of gRPC, of which each message is counted as a request.';

export interface MeasuredModel {
  readonly engine: EngineMonitor;
  readonly served: ServedModel;
  /** Of all that is counted of it. */
  readonly labels: Sample['labels'];
}

export interface MetricsOptions {
  readonly packageVersion: string;
  /** Whether each model is loaded, 1 or 0. */
  readonly loaded: () => readonly Sample[];
  /** Whether what the folder of each holds could not be loaded, 1 or 0; null: there are no folders. */
  readonly loadFailed: (() => readonly Sample[]) | null;
  /** Those that are loaded, as they are when somebody asks. */
  readonly models: () => readonly MeasuredModel[];
  /** What else the service counts. */
  readonly others: () => readonly Family[];
  readonly requestsInFlight: () => number;
  readonly connections: () => number;
  /** Open streams of gRPC of which each message is a request; null: there is no port for it. */
  readonly streams: (() => number) | null;
  readonly credentials: Credentials;
  readonly signalStreams: StreamMetrics;
}

/** All metrics of the process. */
export interface Metrics {
  readonly requests: RequestMetrics;
  /** Other models are served: what they do is counted from now on. */
  readonly count: () => void;
  readonly countConnectionEnd: (end: ConnectionEnd) => void;
  readonly contentType: string;
  /** In the text format of Prometheus. */
  readonly expose: () => Promise<string>;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { packageVersion, loaded, loadFailed, models, requestsInFlight } = options;
  const requests = new RequestMetrics();
  const connectionEnds = zeros(CONNECTION_ENDS);
  const ofService = [
    information('libtorch_serve_build_info', 'What runs.', {
      version: packageVersion,
      node_version: process.versions.node,
    }),
    gauge('libtorch_serve_model_loaded', '1: a model is loaded, 0: it could not be.', loaded),
    ...(loadFailed ? [gauge(LOAD_FAILED, LOAD_FAILED_HELP, loadFailed)] : []),
    gauge(
      'libtorch_serve_http_requests_in_flight',
      'Requests that are not answered yet, the one that reads this included.',
      requestsInFlight,
    ),
    ...requests.families(),
    ...options.signalStreams.families(),
    gauge('libtorch_serve_http_connections', 'Open connections.', options.connections),
    counter(
      'libtorch_serve_http_connections_cut_total',
      'Connections that the service ended because of their clients or for want of room, by reason.',
      () => byLabel('reason', connectionEnds),
    ),
    ...(options.streams
      ? [gauge('libtorch_serve_grpc_streams', STREAMS_HELP, options.streams)]
      : []),
    options.credentials.family(),
  ];
  const ofLoop = [...loopFamilies(), ...processFamilies()];
  const ofModels = new ModelFamilies();
  const families = (): readonly Family[] => [
    ...ofService,
    ...options.others(),
    ...ofModels.of(models()),
    ...ofLoop,
  ];
  return {
    requests,
    count: () => {
      ofModels.of(models());
    },
    countConnectionEnd: (end) => {
      connectionEnds[end]++;
    },
    contentType: CONTENT_TYPE,
    expose: () => expose(families()),
  };
}

interface CountedFamily {
  readonly family: Family;
  /** What says of which model it is, of the labels that do so here. */
  readonly labelsOf: (labels: Sample['labels']) => Sample['labels'];
}

const asTheyAre = (labels: Sample['labels']): Sample['labels'] => labels;

/** What is counted of models that come and go: families of one name are one, with the labels of each model. */
class ModelFamilies {
  /** A model is counted from when it is first seen here. */
  readonly #byEngine = new WeakMap<EngineMonitor, readonly CountedFamily[]>();

  of(models: readonly MeasuredModel[]): readonly Family[] {
    const merged = new Map<string, Family>();
    for (const { engine, served, labels } of models) {
      for (const { family, labelsOf } of this.#familiesOf(engine, served, labels)) {
        const others = merged.get(family.name);
        const read = (): readonly Sample[] => [
          ...(others?.read() ?? []),
          ...family
            .read()
            .map((sample) => ({ ...sample, labels: { ...labelsOf(labels), ...sample.labels } })),
        ];
        merged.set(family.name, { ...family, read });
      }
    }
    return [...merged.values()];
  }

  #familiesOf(
    engine: EngineMonitor,
    served: ServedModel,
    labels: Sample['labels'],
  ): readonly CountedFamily[] {
    const known = this.#byEngine.get(engine);
    if (known) return known;
    const own = engineFamilies(engine, served).map((family) => ({ family, labelsOf: asTheyAre }));
    // One of several models is named, as TorchServe names all of its own.
    const others = labels.model === undefined ? [] : torchServeFamilies(engine);
    const families = [...own, ...others.map((family) => ({ family, labelsOf: torchServeLabels }))];
    this.#byEngine.set(engine, families);
    return families;
  }
}
