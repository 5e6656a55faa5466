import express, { type Express } from 'express';
import type { Handler } from '../protocols/endpoint';
import { errorShapes, type Protocol } from '../protocols/protocol';
import { type IsPublic, isPublicPath } from '../serving/authentication';
import type { Connections } from '../serving/connections';
import type { Context } from '../serving/context';
import type { Metrics } from '../serving/metrics/metrics';
import { Pipeline } from '../serving/pipeline';
import type { AnswersDue } from './answers-due';
import { checkHeaders, type Listener, listenBeforeExpress } from './before-express';
import { Bodies } from './body';
import { Cors } from './cors';
import { mountRoutes, routeTable } from './route-table';
import { UnsentAnswers } from './send';
import { type StaticFile, serveStaticFile } from './static-files';

const KEY_NEEDED = 'An API key is needed, in one header: "Authorization: Bearer KEY".';

/** What scrapers ask every few seconds, as supervisors ask the probes of protocols. */
const SCRAPED = '/metrics';

/** What is served over HTTP. */
export interface Site {
  /** What it speaks; the first is the service's own. */
  readonly protocols: readonly Protocol[];
  /** The OpenAPI document. @param isPublic null: everybody may ask everything */
  readonly describeApi: (isPublic: IsPublic | null) => object;
  /** The page at `GET /` and what belongs to it. */
  readonly pages: readonly StaticFile[];
}

/** The Express app of one service, which does not listen, and what stands before it. */
export function createApp(
  context: Context,
  site: Site,
  { due, connections }: { readonly due: AnswersDue; readonly connections: Connections },
): { readonly app: Express; readonly listener: Listener } {
  const { config, credentials, readiness } = context;
  const { access, bodyMemory } = config;
  const app = express();
  // Paths are exact, in case and in trailing slashes; nothing reads a query or an ETag.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(checkHeaders);

  const probes = site.protocols.flatMap((protocol) => protocol.probes);
  const pages = site.pages.map(({ path }) => path);
  const isPublic = isPublicPath(pages, probes, access);
  const pipeline = new Pipeline(context, KEY_NEEDED, new Set([SCRAPED, ...probes]));
  const bodies = new Bodies(config, connections);
  const routes = routesOf(context, site, credentials.keys && isPublic);
  mountRoutes(app, routes, { bodies, pipeline });
  const shared = {
    ...{ app, readiness, due, routes, isPublic },
    unsentAnswers: new UnsentAnswers(bodyMemory, connections),
    release: bodies.release,
    errorShapeOf: errorShapes(site.protocols),
  };
  const cors = access.corsOrigins.length > 0 ? new Cors(access.corsOrigins) : null;
  return { app, listener: listenBeforeExpress(shared, pipeline, cors) };
}

function routesOf(
  context: Context,
  { protocols, describeApi, pages }: Site,
  isPublic: IsPublic | null,
): ReturnType<typeof routeTable> {
  const endpoints = protocols.flatMap((protocol) => protocol.endpoints);
  const gets = protocols.flatMap((protocol) => Object.entries(protocol.gets));
  return routeTable([
    // Express looks for a path from the first one on: those of the requests that matter come first.
    ...endpoints.map((POST) => [POST.path, { POST }] as const),
    ['/openapi.json', { GET: { handle: openapi(() => describeApi(isPublic)) } }],
    [SCRAPED, { GET: { handle: metrics(context.metrics) } }],
    ...gets.map(([path, GET]) => [path, { GET }] as const),
    ...pages.map((file) => [file.path, { GET: serveStaticFile(file) }] as const),
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
