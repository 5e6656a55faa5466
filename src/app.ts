import express, { type Express } from 'express';
import type { Logger } from 'pino';
import type { InFlight } from './http/in-flight';
import {
  answerErrors,
  type ErrorLimits,
  methodNotAllowed,
  notFound,
} from './http/middleware/answer-errors';
import { readJson } from './http/middleware/read-json';
import { trackRequest } from './http/middleware/track-request';
import type { Endpoint } from './http/routes/endpoint';
import { health } from './http/routes/health';
import { metrics } from './http/routes/metrics';
import { type StaticFile, serveStaticFile } from './http/routes/static-files';
import type { Metrics } from './metrics/metrics';

export interface AppOptions {
  readonly endpoint: Endpoint;
  readonly modelLoaded: boolean;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limits: ErrorLimits;
  /** The page at `GET /` and what belongs to it. */
  readonly staticFiles: readonly StaticFile[];
}

/** Builds the Express app of one service; it does not listen. */
export function createApp(options: AppOptions): Express {
  const { endpoint, limits } = options;
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  app.use(trackRequest(options.inFlight, options.logger, options.metrics.requests));
  app.route('/health').get(health(options.modelLoaded)).all(methodNotAllowed('GET, HEAD'));
  app.route('/metrics').get(metrics(options.metrics)).all(methodNotAllowed('GET, HEAD'));
  app
    .route(endpoint.path)
    .post(readJson(limits.bodyLimit), endpoint.handle)
    .all(methodNotAllowed('POST'));
  for (const file of options.staticFiles) {
    app.route(file.path).get(serveStaticFile(file)).all(methodNotAllowed('GET, HEAD'));
  }
  app.use(notFound);
  app.use(answerErrors(limits));
  return app;
}
