import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Connections } from './http/connections';
import type { InFlight } from './http/in-flight';
import {
  answerErrors,
  type ErrorLimits,
  methodNotAllowed,
  notFound,
} from './http/middleware/answer-errors';
import { type BodyBounds, boundBodies } from './http/middleware/bound-bodies';
import { readJson } from './http/middleware/read-json';
import { trackRequest } from './http/middleware/track-request';
import type { Endpoint } from './http/routes/endpoint';
import { health } from './http/routes/health';
import { info, type ServiceInfo } from './http/routes/info';
import { metrics } from './http/routes/metrics';
import { openapi } from './http/routes/openapi';
import { ready } from './http/routes/ready';
import { type StaticFile, serveStaticFile } from './http/routes/static-files';
import { UnsentAnswers } from './http/unsent-answers';
import type { Metrics } from './metrics/metrics';
import type { Tracer } from './tracing/tracer';

export interface AppOptions {
  readonly endpoints: readonly Endpoint[];
  readonly info: ServiceInfo;
  /** The OpenAPI document. */
  readonly describeApi: () => object;
  readonly inFlight: InFlight;
  readonly connections: Connections;
  readonly metrics: Metrics;
  /** Null: no spans are exported. */
  readonly tracer: Tracer | null;
  readonly logger: Logger;
  readonly limits: ErrorLimits & BodyBounds;
  /** The page at `GET /` and what belongs to it. */
  readonly staticFiles: readonly StaticFile[];
}

/** Builds the Express app of one service; it does not listen. */
export function createApp(options: AppOptions): Express {
  const { info: serviceInfo, limits } = options;
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  const { logger, tracer, inFlight, connections } = options;
  const unsentAnswers = new UnsentAnswers(limits.bodyMemory, connections);
  const metricsOfRequests = options.metrics.requests;
  app.use(trackRequest(inFlight, { logger, metrics: metricsOfRequests, tracer, unsentAnswers }));
  const gets: Readonly<Record<string, RequestHandler>> = {
    '/health': health(serviceInfo.model.loaded),
    '/ready': ready(serviceInfo.model, options.inFlight),
    '/info': info(serviceInfo),
    '/openapi.json': openapi(options.describeApi),
    '/metrics': metrics(options.metrics),
  };
  for (const [path, handle] of Object.entries(gets)) {
    app.route(path).get(handle).all(methodNotAllowed('GET, HEAD'));
  }
  const read = readJson(limits.bodyLimit);
  const { hold, release } = boundBodies(limits, connections, inFlight);
  for (const { path, handle } of options.endpoints) {
    app.route(path).post(hold, read, release, handle).all(methodNotAllowed('POST'));
  }
  for (const file of options.staticFiles) {
    app.route(file.path).get(serveStaticFile(file)).all(methodNotAllowed('GET, HEAD'));
  }
  app.use(notFound);
  app.use(answerErrors(limits));
  return app;
}
