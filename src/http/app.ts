import express, { type Express } from 'express';
import type { Logger } from 'pino';
import type { Handler } from '../protocols/endpoint';
import type { ServiceInfo } from '../protocols/own/schemas/answers';
import { errorShapes, type Protocol } from '../protocols/protocol';
import { isPublicPath } from '../serving/authentication';
import type { Connections } from '../serving/connections';
import type { ApiKeys } from '../serving/credentials/keys';
import type { Metrics } from '../serving/metrics/metrics';
import { Pipeline } from '../serving/pipeline';
import { type Readiness, readinessOf } from '../serving/readiness';
import { RefusalLog } from '../serving/refusal-log';
import type { Watchers } from '../serving/report';
import { Scheduler } from '../serving/scheduler';
import type { AdmissionLimits } from '../serving/stage';
import type { Tracer } from '../serving/tracing/tracer';
import type { AnswersDue } from './answers-due';
import { checkHeaders, type Listener, listenBeforeExpress } from './before-express';
import { Bodies, type BodyBounds } from './body';
import { Cors } from './cors';
import { RouteTable } from './route-table';
import { type StaticFile, serveStaticFile } from './static-files';
import { UnsentAnswers } from './unsent-answers';

const KEY_NEEDED = 'An API key is needed, in one header: "Authorization: Bearer KEY".';

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
  readonly due: AnswersDue;
  readonly connections: Connections;
  readonly metrics: Metrics;
  /** Null: no spans are exported. */
  readonly tracer: Tracer | null;
  readonly logger: Logger;
  readonly limits: AdmissionLimits & BodyBounds;
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
  readonly scheduler: Scheduler;
  readonly refusals: RefusalLog;
  readonly readiness: Readiness;
  readonly watchers: Watchers;
}

/** Builds the app of one service; it does not listen. */
export function createApp(options: AppOptions): App {
  const { protocols, limits, access, due, connections, logger } = options;
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(checkHeaders);
  const scheduler = new Scheduler();
  const pipeline = new Pipeline({
    ...{ keys: access.keys, keyNeeded: KEY_NEEDED },
    scheduler,
    limits,
  });
  const bodies = new Bodies(limits, connections);
  const routes = routesOf(options);
  routes.mount(app, bodies, pipeline);

  const refusals = new RefusalLog(logger);
  const readiness = readinessOf(options.info.model, due, options.describeProblem);
  const probes = protocols.flatMap((protocol) => protocol.probes);
  const watchers = {
    ...{ logger, refusals, metrics: options.metrics.requests, tracer: options.tracer },
    machineRoutes: new Set([SCRAPED, ...probes]),
  };
  const pages = options.staticFiles.map(({ path }) => path);
  const listener = listenBeforeExpress({
    shared: {
      ...{ app, readiness, due },
      unsentAnswers: new UnsentAnswers(limits.bodyMemory, connections),
      release: (response) => bodies.release(response),
      endpoints: routes.endpoints,
      paths: routes.paths,
      isPublic: isPublicPath(pages, probes, access),
      errorShapeOf: errorShapes(protocols),
    },
    ...{ watchers, pipeline },
    cors: access.corsOrigins.length > 0 ? new Cors(access.corsOrigins) : null,
  });
  return { app, listener, scheduler, refusals, readiness, watchers };
}

function routesOf(options: AppOptions): RouteTable {
  const routes = new RouteTable();
  routes.get('/openapi.json', { handle: openapi(options.describeApi) });
  routes.get('/metrics', { handle: metrics(options.metrics) });
  for (const { endpoints, gets } of options.protocols) {
    for (const endpoint of endpoints) routes.post(endpoint);
    for (const [path, get] of Object.entries(gets)) routes.get(path, get);
  }
  for (const file of options.staticFiles) routes.get(file.path, serveStaticFile(file));
  return routes;
}

/** GET /metrics, in the text format of Prometheus. */
function metrics({ contentType, expose }: Metrics): Handler {
  const headers = { 'Content-Type': contentType };
  return async () => ({ body: Buffer.from(await expose()), headers });
}

/** GET /openapi.json. The document is made when it is first asked for. */
function openapi(describe: () => object): Handler {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  let body: Buffer | undefined;
  return () => {
    body ??= Buffer.from(JSON.stringify(describe()));
    return { body, headers };
  };
}
