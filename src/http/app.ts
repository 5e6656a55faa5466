import express, { type Express, type Response } from 'express';
import type { Logger } from 'pino';
import type { ServiceInfo } from '../protocols/own/schemas/answers';
import { errorShapes, type Protocol } from '../protocols/protocol';
import type { Connections } from '../serving/connections';
import type { ApiKeys } from '../serving/credentials/keys';
import { ServiceError } from '../serving/errors';
import type { InFlight } from '../serving/in-flight';
import type { Metrics } from '../serving/metrics/metrics';
import { type Readiness, readinessOf } from '../serving/readiness';
import { RefusalLog } from '../serving/refusal-log';
import type { Watchers } from '../serving/report';
import type { Tracer } from '../serving/tracing/tracer';
import { Turns } from '../serving/turns';
import { openGate } from './access/gate';
import { isPublicPath } from './access/public-paths';
import { type AdmissionLimits, type Listener, openFrontDoor } from './front-door';
import { answerError, answerErrors, type ErrorLimits, notFound } from './middleware/answer-errors';
import { type BodyBounds, boundBodies } from './middleware/bound-bodies';
import { readBytes, readJson } from './middleware/read-body';
import { checkHeaders, trackRequest } from './middleware/track-request';
import { RouteTable } from './routes/mount';
import { metrics, openapi } from './routes/service';
import { type StaticFile, serveStaticFile } from './routes/static-files';
import { answerWith } from './send';
import { UnsentAnswers } from './unsent-answers';

/** What scrapers ask every few seconds, as supervisors ask the probes of protocols. */
const SCRAPED = '/metrics';

export interface AppOptions {
  /** What it speaks; the first is the service's own. */
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
  const endpoints = protocols.flatMap((protocol) => protocol.endpoints);
  const routes = new RouteTable();
  routes.get('/openapi.json', answerWith(openapi(options.describeApi)));
  routes.get('/metrics', answerWith(metrics(options.metrics)));
  for (const endpoint of endpoints) routes.post(endpoint);
  for (const { gets } of protocols) {
    for (const [path, { handle }] of Object.entries(gets)) routes.get(path, answerWith(handle));
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
    machineRoutes: new Set([SCRAPED, ...probes]),
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
