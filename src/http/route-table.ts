import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import type { Endpoint, Handler } from '../protocols/endpoint';
import { ServiceError } from '../serving/errors';
import type { Pipeline } from '../serving/pipeline';
import type { Bodies } from './body';
import { exchangeOf } from './exchange';
import { endWith } from './send';

/** What a path is asked for: GET (and HEAD), POST or both. */
export interface Route {
  readonly GET?: RequestHandler | Pick<Endpoint, 'handle'>;
  readonly POST?: Endpoint;
}

/** By path. @throws Error: there are two for a method of one path */
export function routeTable(
  entries: readonly (readonly [path: string, route: Route])[],
): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const [path, route] of entries) {
    const present = routes.get(path) ?? {};
    for (const method of Object.keys(route)) {
      if (method in present) throw new Error(`${path}: there are two routes for ${method}`);
    }
    routes.set(path, { ...present, ...route });
  }
  return routes;
}

/** What is left of a path is 405, and what of all paths 404; every error becomes an answer. */
export function mountRoutes(
  app: Express,
  routes: ReadonlyMap<string, Route>,
  { bodies, pipeline }: { readonly bodies: Bodies; readonly pipeline: Pipeline },
): void {
  const before = { json: bodies.before('json'), bytes: bodies.before('bytes') };
  for (const [path, { GET: get, POST: post }] of routes) {
    const route = app.route(path);
    if (get) route.get(typeof get === 'function' ? get : answerWith(get.handle, pipeline));
    if (post) route.post(...before[post.body ?? 'json'], answerWith(post.handle, pipeline));
    route.all(methodNotAllowed([get && 'GET, HEAD', post && 'POST'].filter(Boolean).join(', ')));
  }
  app.use(notFound);
  app.use(answerError);
}

/** The request has been read; what follows is the pipeline's. */
function answerWith(handle: Handler, pipeline: Pipeline): RequestHandler {
  return (_request, response) => {
    const exchange = exchangeOf(response);
    exchange.handle = handle;
    pipeline.received(exchange);
  };
}

const notFound: RequestHandler = () => {
  throw new ServiceError('NOT_FOUND', 'There is no such path here.');
};

const answerError: ErrorRequestHandler = (raised, _request, response, _next) => {
  exchangeOf(response).fail(raised);
};

/** For what is left of a route once its methods are served. `allow`: as in the Allow header. */
function methodNotAllowed(allow: string): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new ServiceError('METHOD_NOT_ALLOWED', `This path accepts ${allow} only.`);
    }
    endWith(response.status(204), undefined);
  };
}
