import express, { type ErrorRequestHandler, type Express } from 'express';
import { errorFormats, type Mount, pathAt } from '../protocols/protocol';
import type { Method, Route } from '../protocols/route';
import type { ProtectedResource } from '../serving/access';
import { type IsPublic, isPublicPath } from '../serving/access';
import type { Metrics } from '../serving/metrics/metrics';
import { RequestPipeline } from '../serving/request-pipeline';
import type { ServerContext } from '../serving/server-context';
import { BodyReader } from './body';
import { Cors } from './cors';
import { type HttpShared, requestContextOf, UnsentResponses } from './http-request-context';
import { checkHeaders, OriginPolicy } from './request-head';
import { createRequestListener, type RequestListener } from './request-listener';
import { notFound, type RouteHandler, SiteRoutes } from './site-routes';
import { type StaticFile, serveStaticFile } from './static-files';
import { Upgrades } from './upgrade';

const KEY_REQUIRED = 'An API key is required in one header: "Authorization: Bearer KEY".';
const METRICS_PATH = '/metrics';

/** The routes and pages that a port serves. */
export interface Site {
  readonly mounts: readonly Mount[];
  /** Creates the OpenAPI document. @param isPublic null: no path needs an API key */
  readonly describeApi: (isPublic: IsPublic | null) => object;
  /** What the API key of a request must permit, by path. */
  readonly resourceOf: (path: string) => ProtectedResource | null;
  /** Static files of the pages. */
  readonly pages: readonly StaticFile[];
}

/** Express app of a port, and the listeners that call it. */
export interface App {
  readonly app: Express;
  readonly listener: RequestListener;
  readonly upgrades: Upgrades;
  /** Replaces the routes, while requests are in flight. */
  readonly publish: (site: Site) => void;
}

/** A request passes the request listener, then `checkHeaders`, its route, and `sendError` if any of them throws. */
export function createApp(
  server: ServerContext,
  site: Site,
  { pending, connections }: Pick<HttpShared, 'pending' | 'connections'>,
): App {
  const { config, credentials, readiness, metrics } = server;
  const { access, bodyMemory, responseLimit } = config;
  const probeRoutes = new Set([METRICS_PATH]);
  const pipeline = new RequestPipeline(server, KEY_REQUIRED, probeRoutes);
  const routes = new SiteRoutes(new BodyReader(config, connections), pipeline);
  const origins = new OriginPolicy({
    ...access,
    hosts: [config.host, config.managementHost],
    isKeyNeeded: credentials.keys !== null,
  });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(checkHeaders(origins));
  app.use(routes.dispatch);
  app.use(notFound);
  app.use(sendError);

  const publish = (next: Site): void => {
    const probes = next.mounts.flatMap(({ at, protocol }) =>
      protocol.probes.map((path) => pathAt(at, path)),
    );
    for (const probe of probes) probeRoutes.add(probe);
    const pages = next.pages.map(({ path }) => path);
    const isPublic = isPublicPath(pages, probes, access);
    const rules = {
      isPublic,
      resourceOf: next.resourceOf,
      errorFormats: errorFormats(next.mounts),
    };
    const removed = routes.publish(rules, siteRoutes(next, metrics, credentials.keys && isPublic));
    metrics.requests.forget(removed);
  };
  publish(site);
  const shared: HttpShared = {
    app,
    readiness,
    pending,
    connections,
    routes,
    responseLimit,
    unsentResponses: new UnsentResponses(bodyMemory, connections),
  };
  const upgrades = new Upgrades(shared, { pipeline, origins, limits: config });
  const cors = access.corsOrigins.length > 0 ? new Cors(access.corsOrigins) : null;
  return { app, listener: createRequestListener(shared, pipeline, cors), upgrades, publish };
}

const sendError: ErrorRequestHandler = (error, _request, response, _next) => {
  requestContextOf(response).fail(error);
};

/** Routes of the protocols, `/openapi.json`, `/metrics` and the pages. */
function siteRoutes(
  { mounts, describeApi, pages }: Site,
  metrics: Metrics,
  isPublic: IsPublic | null,
): readonly (readonly [path: string, method: Method, handler: RouteHandler])[] {
  return [
    ...mounts.flatMap(({ at, protocol }) =>
      protocol.routes.map((route) => [pathAt(at, route.path), route.method, route] as const),
    ),
    ['/openapi.json', 'GET', openApiRoute(() => describeApi(isPublic))],
    [METRICS_PATH, 'GET', metricsRoute(metrics)],
    ...pages.map((page) => [page.path, 'GET', serveStaticFile(page)] as const),
  ];
}

/** GET /metrics, in the Prometheus text format. */
function metricsRoute({ contentType, expose }: Metrics): Route {
  const headers = { 'Content-Type': contentType };
  return undescribed(METRICS_PATH, async () => ({ body: Buffer.from(await expose()), headers }));
}

/** GET /openapi.json. The document is created by the first request. */
function openApiRoute(describe: () => object): Route {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  let body: Buffer | undefined;
  return undescribed('/openapi.json', () => {
    body ??= Buffer.from(JSON.stringify(describe()));
    return { body, headers };
  });
}

/** A route whose OpenAPI operation is in src/protocols/openapi/document.ts. */
function undescribed(path: string, handle: Route['handle']): Route {
  return { path, method: 'GET', handle, operation: null };
}
