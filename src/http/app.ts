import express, { type Express } from 'express';
import { errorShapes, type Mount, pathAt } from '../protocols/protocol';
import type { Handler } from '../protocols/route';
import type { ProtectedResource } from '../serving/access';
import { type IsPublic, isPublicPath } from '../serving/authentication';
import type { Connections } from '../serving/connections';
import type { Metrics } from '../serving/metrics/metrics';
import { Pipeline } from '../serving/request-pipeline';
import type { ServerContext } from '../serving/server-context';
import { BodyReader } from './body';
import { Cors } from './cors';
import { OriginPolicy } from './origins';
import type { PendingResponses } from './pending-responses';
import { checkHeaders, type Listener, listenBeforeExpress } from './request-listener';
import { answerError, notFound, type Routes, RouteTable, routesByPath } from './route-table';
import { UnsentResponses } from './send';
import { type StaticFile, serveStaticFile } from './static-files';
import { Upgrades } from './upgrade';

const KEY_NEEDED = 'An API key is needed, in one header: "Authorization: Bearer KEY".';

/** What scrapers ask every few seconds, as supervisors ask the probes of protocols. */
const SCRAPED = '/metrics';

/** What is served over HTTP. */
export interface Site {
  /** What it speaks, and where. */
  readonly mounts: readonly Mount[];
  /** The OpenAPI document. @param isPublic null: everybody may ask everything */
  readonly describeApi: (isPublic: IsPublic | null) => object;
  /** By which keys are limited, of any path. */
  readonly aboutOf: (path: string) => ProtectedResource | null;
  /** The page at `GET /` and what belongs to it. */
  readonly pages: readonly StaticFile[];
}

/** An Express app, which does not listen, and what stands before it. */
export interface App {
  readonly app: Express;
  readonly listener: Listener;
  readonly upgrades: Upgrades;
  /** Another site takes the place of this one, under requests that are on their way. */
  readonly show: (site: Site) => void;
}

export function createApp(
  context: ServerContext,
  site: Site,
  { due, connections }: { readonly due: PendingResponses; readonly connections: Connections },
): App {
  const { config, credentials, readiness } = context;
  const { access, bodyMemory, responseLimit } = config;
  const origins = new OriginPolicy({
    ...access,
    hosts: [config.host, config.managementHost],
    isKeyNeeded: credentials.keys !== null,
  });
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(checkHeaders(origins));

  const machineRoutes = new Set([SCRAPED]);
  const pipeline = new Pipeline(context, KEY_NEEDED, machineRoutes);
  const bodies = new BodyReader(config, connections);
  const routes = new RouteTable(bodies, pipeline);
  app.use(routes.dispatch);
  app.use(notFound);
  app.use(answerError);
  const rules = {
    isPublic: (_path: string) => false,
    errors: errorShapes([]),
    aboutOf: site.aboutOf,
  };
  const show = (shown: Site): void => {
    const probes = shown.mounts.flatMap(({ at, protocol }) =>
      protocol.probes.map((path) => pathAt(at, path)),
    );
    const pages = shown.pages.map(({ path }) => path);
    for (const probe of probes) machineRoutes.add(probe);
    rules.isPublic = isPublicPath(pages, probes, access);
    rules.errors = errorShapes(shown.mounts);
    rules.aboutOf = shown.aboutOf;
    const removed = routes.show(routesOf(context, shown, credentials.keys && rules.isPublic));
    context.metrics.requests.forget(removed);
  };
  show(site);
  const shared = {
    app,
    readiness,
    due,
    connections,
    routes,
    responseLimit,
    isPublic: (path: string) => rules.isPublic(path),
    unsentAnswers: new UnsentResponses(bodyMemory, connections),
    release: bodies.release,
    errorShapes: () => rules.errors,
    aboutOf: (path: string) => rules.aboutOf(path),
  };
  const upgrades = new Upgrades({
    readiness,
    due,
    connections,
    routes,
    pipeline,
    aboutOf: shared.aboutOf,
    origins,
    limits: config,
  });
  const cors = access.corsOrigins.length > 0 ? new Cors(access.corsOrigins) : null;
  return { app, listener: listenBeforeExpress(shared, pipeline, cors), upgrades, show };
}

function routesOf(
  context: ServerContext,
  { mounts, describeApi, pages }: Site,
  isPublic: IsPublic | null,
): Routes {
  return routesByPath([
    ...mounts.flatMap(({ at, protocol }) =>
      protocol.routes.map((route) => {
        const path = pathAt(at, route.path);
        return [path, { [route.method]: { ...route, path } }] as const;
      }),
    ),
    ['/openapi.json', { GET: { handle: openapi(() => describeApi(isPublic)) } }],
    [SCRAPED, { GET: { handle: metrics(context.metrics) } }],
    ...pages.map((page) => [page.path, { GET: serveStaticFile(page) }] as const),
  ]);
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
