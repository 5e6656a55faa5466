import express, { type Express, type Response } from 'express';
import type { Logger } from 'pino';
import { ServiceError } from './errors';
import { openGate } from './http/access/gate';
import type { ApiKeys } from './http/access/keys';
import { isPublicPath } from './http/access/public-paths';
import type { Connections } from './http/connections';
import { type AdmissionLimits, type Listener, openFrontDoor } from './http/front-door';
import type { InFlight } from './http/in-flight';
import {
  answerError,
  answerErrors,
  type ErrorLimits,
  notFound,
} from './http/middleware/answer-errors';
import { type BodyBounds, boundBodies } from './http/middleware/bound-bodies';
import { readBytes, readJson } from './http/middleware/read-body';
import { checkHeaders, trackRequest } from './http/middleware/track-request';
import { errorShapes, type Protocol } from './http/protocols/protocol';
import { type Readiness, readinessOf } from './http/readiness';
import { RefusalLog } from './http/refusal-log';
import type { Watchers } from './http/report';
import type { Endpoint } from './http/routes/endpoint';
import { health } from './http/routes/health';
import { info, type ServiceInfo } from './http/routes/info';
import { metrics } from './http/routes/metrics';
import { RouteTable } from './http/routes/mount';
import { openapi } from './http/routes/openapi';
import { ready } from './http/routes/ready';
import { type StaticFile, serveStaticFile } from './http/routes/static-files';
import { Turns } from './http/turns';
import { UnsentAnswers } from './http/unsent-answers';
import type { Metrics } from './metrics/metrics';
import type { Tracer } from './tracing/tracer';

/** What probes and scrapers ask every few seconds, beside the probes of protocols. */
const ASKED_BY_MACHINES = ['/health', '/ready', '/metrics'];

export interface AppOptions {
  /** Of the service itself. */
  readonly endpoints: readonly Endpoint[];
  /** What it speaks beside. */
  readonly protocols: readonly Protocol[];
  readonly info: ServiceInfo;
  /** The OpenAPI document. */
  readonly describeApi: () => object;
  /** Why requests should not be sent here although the model is loaded; null: they should. */
  readonly describeProblem: () => string | null;
  readonly inFlight: InFlight;
  readonly connections: Connections;
  readonly metrics: Metrics;
  /** Null: no spans are exported. */
  readonly tracer: Tracer | null;
  readonly logger: Logger;
  readonly limits: AdmissionLimits & BodyBounds & ErrorLimits;
  readonly access: AccessOptions;
  /** The page at `GET /` and what belongs to it. */
  readonly staticFiles: readonly StaticFile[];
}

/** Who may ask. */
export interface AccessOptions {
  /** Null: everybody. */
  readonly keys: ApiKeys | null;
  readonly metricsNeedKey: boolean;
  /** See `Cors`. */
  readonly corsOrigins: readonly string[];
}

/** The Express app of one service, and what stands before it. */
export interface App {
  readonly app: Express;
  readonly listener: Listener;
  /** See `StalledRequests`. */
  readonly giveUp: (response: Response) => void;
  readonly turns: Turns;
  readonly refusals: RefusalLog;
  readonly readiness: Readiness;
  readonly watchers: Watchers;
}

/** Builds the app of one service; it does not listen. */
export function createApp(options: AppOptions): App {
  const { info: serviceInfo, limits, protocols } = options;
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  const { inFlight, connections } = options;
  const unsentAnswers = new UnsentAnswers(limits.bodyMemory, connections);
  app.use(checkHeaders);
  const endpoints = [...options.endpoints, ...protocols.flatMap((protocol) => protocol.endpoints)];
  const routes = new RouteTable();
  routes.get('/health', health(serviceInfo.model.loaded));
  routes.get('/ready', ready);
  routes.get('/info', info(serviceInfo, protocols));
  routes.get('/openapi.json', openapi(options.describeApi));
  routes.get('/metrics', metrics(options.metrics));
  for (const endpoint of endpoints) routes.post(endpoint);
  for (const { gets } of protocols) {
    for (const [path, handle] of Object.entries(gets)) routes.get(path, handle);
  }
  for (const file of options.staticFiles) routes.get(file.path, serveStaticFile(file));
  const turns = new Turns();
  const { hold, release } = boundBodies(limits, connections);
  routes.mount(app, {
    json: [hold, readJson(limits.bodyLimit, turns), release],
    bytes: [hold, readBytes(limits.bodyLimit, turns), release],
  });
  app.use(notFound);
  app.use(answerErrors(limits));

  const { logger, metrics: counted, tracer } = options;
  const refusals = new RefusalLog(logger);
  const readiness = readinessOf(serviceInfo.model, inFlight, options.describeProblem);
  const probes = protocols.flatMap((protocol) => protocol.probes);
  const watchers = {
    ...{ logger, refusals, metrics: counted.requests, tracer },
    machineRoutes: new Set([...ASKED_BY_MACHINES, ...probes]),
  };
  const track = trackRequest(inFlight, watchers, { readiness, unsentAnswers });
  const pages = options.staticFiles.map(({ path }) => path);
  const gate = openGate({
    ...options.access,
    isPublic: isPublicPath(pages, probes, options.access),
    paths: routes.paths,
    turns,
    limits,
  });
  return {
    app,
    turns,
    refusals,
    readiness,
    watchers,
    giveUp: (response) => {
      const error = new ServiceError('DRAINING', 'The service is shutting down.');
      answerError(error, response, limits);
    },
    listener: openFrontDoor({
      app,
      endpoints,
      track,
      errorShapeOf: errorShapes(protocols),
      gate,
      turns,
      limits,
    }),
  };
}
