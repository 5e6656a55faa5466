import type { EngineMonitor } from '../../native/engine';
import type { Credentials } from '../credentials/credentials';
import type { Gather } from '../peers';
import { engineFamilies, type ServedModel } from './engine-metrics';
import {
  byLabel,
  counter,
  gauge,
  information,
  ofProcess,
  type Sample,
  sumUp,
  zeros,
} from './family';
import { loopFamilies, processFamilies } from './process-metrics';
import { CONTENT_TYPE, expose } from './registry';
import { RequestMetrics } from './request-metrics';

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
  'answer_stuck',
  'tls_failed',
] as const;
export type ConnectionEnd = (typeof CONNECTION_ENDS)[number];

export interface MetricsOptions {
  readonly packageVersion: string;
  /** Null: it could not be loaded. */
  readonly model: { readonly engine: EngineMonitor; readonly served: ServedModel } | null;
  readonly requestsInFlight: () => number;
  readonly connections: () => number;
  readonly credentials: Credentials;
  readonly gather: Gather;
}

/** All metrics of one process, whichever of its event loops counts. */
export interface Metrics {
  readonly requests: RequestMetrics;
  readonly countConnectionEnd: (end: ConnectionEnd) => void;
  readonly contentType: string;
  /** In the text format of Prometheus. */
  readonly expose: () => Promise<string>;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { packageVersion, model, requestsInFlight } = options;
  const requests = new RequestMetrics();
  const connectionEnds = zeros(CONNECTION_ENDS);
  const families = [
    information('libtorch_serve_build_info', 'What runs.', {
      version: packageVersion,
      node_version: process.versions.node,
    }),
    ofProcess(
      gauge('libtorch_serve_model_loaded', '1: a model is loaded, 0: it could not be.', () =>
        model ? 1 : 0,
      ),
    ),
    gauge(
      'libtorch_serve_http_requests_in_flight',
      'Requests that are not answered yet, the one that reads this included.',
      requestsInFlight,
    ),
    ...requests.families(),
    gauge('libtorch_serve_http_connections', 'Open connections.', options.connections),
    counter(
      'libtorch_serve_http_connections_cut_total',
      'Connections that the service ended because of their clients or for want of room, by reason.',
      () => byLabel('reason', connectionEnds),
    ),
    options.credentials.family(),
    ...(model ? engineFamilies(model.engine, model.served) : []),
    ...loopFamilies(),
    ...processFamilies(),
  ];
  const gatherSamples = options.gather('metrics', () =>
    families.map((family) => (family.isOfProcess ? [] : family.read())),
  );
  return {
    requests,
    countConnectionEnd: (end) => {
      connectionEnds[end]++;
    },
    contentType: CONTENT_TYPE,
    expose: async () => {
      const { values, silent } = await gatherSamples();
      const ofAllLoops = families.map((family, index) => {
        const read = (): readonly Sample[] => sumUp(values.map((loop) => loop[index] ?? []));
        return family.isOfProcess ? family : { ...family, read };
      });
      const silentLoops = gauge(
        'libtorch_serve_event_loops_silent',
        'Event loops that did not answer this scrape in time: what they count is here as they last told it.',
        () => silent,
      );
      return expose([...ofAllLoops, silentLoops]);
    },
  };
}
