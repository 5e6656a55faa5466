import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { openGate } from './http/access/gate';
import type { ApiKeys } from './http/access/keys';
import { isPublicPath } from './http/access/public-paths';
import type { Connections } from './http/connections';
import { type AdmissionLimits, type Listener, openFrontDoor } from './http/front-door';
import type { InFlight } from './http/in-flight';
import {
  answerErrors,
  type ErrorLimits,
  methodNotAllowed,
  notFound,
} from './http/middleware/answer-errors';
import { type BodyBounds, boundBodies } from './http/middleware/bound-bodies';
import { readJson } from './http/middleware/read-json';
import { checkHeaders, trackRequest } from './http/middleware/track-request';
import { RefusalLog } from './http/refusal-log';
import type { Endpoint } from './http/routes/endpoint';
import { health } from './http/routes/health';
import { info, type ServiceInfo } from './http/routes/info';
import { metrics } from './http/routes/metrics';
import { openapi } from './http/routes/openapi';
import { ready } from './http/routes/ready';
import { type StaticFile, serveStaticFile } from './http/routes/static-files';
import { Turns } from './http/turns';
import { UnsentAnswers } from './http/unsent-answers';
import type { Metrics } from './metrics/metrics';
import type { Tracer } from './tracing/tracer';

export interface AppOptions {
  readonly endpoints: readonly Endpoint[];
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
  readonly turns: Turns;
  readonly refusals: RefusalLog;
}

/** Builds the app of one service; it does not listen. */
export function createApp(options: AppOptions): App {
  const { info: serviceInfo, limits } = options;
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
  const gets: Readonly<Record<string, RequestHandler>> = {
    '/health': health(serviceInfo.model.loaded),
    '/ready': ready(serviceInfo.model, inFlight, options.describeProblem),
    '/info': info(serviceInfo),
    '/openapi.json': openapi(options.describeApi),
    '/metrics': metrics(options.metrics),
  };
  for (const [path, handle] of Object.entries(gets)) {
    app.route(path).get(handle).all(methodNotAllowed('GET, HEAD'));
  }
  const turns = new Turns();
  const read = readJson(limits.bodyLimit, turns);
  const { hold, release } = boundBodies(limits, connections);
  for (const { path, handle } of options.endpoints) {
    app.route(path).post(hold, read, release, handle).all(methodNotAllowed('POST'));
  }
  for (const file of options.staticFiles) {
    app.route(file.path).get(serveStaticFile(file)).all(methodNotAllowed('GET, HEAD'));
  }
  app.use(notFound);
  app.use(answerErrors(limits));

  const { endpoints, logger, metrics: counted, tracer } = options;
  const refusals = new RefusalLog(logger);
  const watchers = { logger, refusals, metrics: counted.requests, tracer, unsentAnswers };
  const track = trackRequest(inFlight, watchers);
  const pages = options.staticFiles.map(({ path }) => path);
  const gate = openGate({
    ...options.access,
    isPublic: isPublicPath(pages, options.access),
    paths: new Set([...Object.keys(gets), ...endpoints.map(({ path }) => path), ...pages]),
    turns,
    limits,
  });
  return {
    app,
    turns,
    refusals,
    listener: openFrontDoor({ app, endpoints, track, gate, turns, limits }),
  };
}
