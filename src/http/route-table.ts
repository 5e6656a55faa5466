import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import { decoded } from '../protocols/protocol';
import { BODY_METHODS, type Handler, type Method, type Route } from '../protocols/route';
import { ServiceError } from '../serving/errors';
import type { Parameters } from '../serving/request-context';
import type { Pipeline } from '../serving/request-pipeline';
import type { BodyReader } from './body';
import { type FoundRoute, requestContextOf } from './http-request-context';
import { pathOf } from './request-target';
import { endResponse } from './send';

type Get = RequestHandler | Pick<Route, 'handle' | 'upgrade'>;

/** What a path is asked for, by method; GET is HEAD as well. */
export type PathRoutes = { readonly GET?: Get } & {
  readonly [Name in (typeof BODY_METHODS)[number]]?: Route;
};

/** By path, in which `/:name` stands for anything up to the next slash or colon. */
export type Routes = ReadonlyMap<string, PathRoutes>;

/** @throws Error: there are two for a method of one path */
export function routesByPath(
  entries: readonly (readonly [path: string, route: PathRoutes])[],
): Routes {
  const routes = new Map<string, PathRoutes>();
  for (const [path, route] of entries) {
    const present = routes.get(path);
    for (const method of ['GET', ...BODY_METHODS] as const) {
      if (route[method] && present?.[method]) {
        throw new Error(`${path}: there are two routes for ${method}`);
      }
    }
    routes.set(path, { ...present, ...route });
  }
  return routes;
}

/**
 * The routes of an app. Others may take their place at any time: a request that is on its way then is
 * answered by what its path is when its body has been read.
 */
export class RouteTable {
  readonly #before: Readonly<Record<'json' | 'bytes', readonly RequestHandler[]>>;
  readonly #pipeline: Pipeline;
  #found: ReadonlyMap<string, FoundRoute> = new Map();
  #patterns: readonly { readonly path: string; readonly matches: RegExp }[] = [];
  /** One for each path: to look for one among the routes of hundreds of models would take long. */
  #routers = new Map<string, { readonly kind: string; readonly router: Router }>();

  constructor(bodies: BodyReader, pipeline: Pipeline) {
    this.#before = { json: bodies.before('json'), bytes: bodies.before('bytes') };
    this.#pipeline = pipeline;
  }

  at(path: string): FoundRoute | undefined {
    const found = this.#found.get(path);
    if (found) return found;
    for (const { path: pattern, matches } of this.#patterns) {
      const groups = matches.exec(path)?.groups;
      if (!groups) continue;
      const parameters = Object.fromEntries(
        Object.entries(groups).map(([name, value]) => [name, decoded(value)]),
      );
      return { ...(this.#found.get(pattern) as FoundRoute), parameters };
    }
    return undefined;
  }

  /** What a client is given that asks for a WebSocket there; null: an answer. */
  upgradeAt(path: string): Route['upgrade'] | null {
    const get = (this.at(path)?.route as PathRoutes | undefined)?.GET;
    return (typeof get === 'object' && get.upgrade) || null;
  }

  /** A route that is no more: its model was unloaded. @param route a path, with its `:names` */
  isRemoved(route: string): boolean {
    return !this.#found.has(route);
  }

  /** From now on these are all there are. @returns paths of those that there were, and are no more */
  show(routes: Routes): readonly string[] {
    const removed = [...this.#found.keys()].filter((path) => !routes.has(path));
    const routers = new Map<string, { readonly kind: string; readonly router: Router }>();
    for (const [path, route] of routes) {
      const kind = kindOf(route);
      const known = this.#routers.get(path);
      routers.set(
        path,
        known?.kind === kind ? known : { kind, router: this.#routerOf(path, route) },
      );
    }
    this.#found = new Map(
      [...routes].map(([path, route]) => [path, { path, route, parameters: NONE }]),
    );
    this.#routers = routers;
    this.#patterns = [...routes.keys()].filter((path) => path.includes('/:')).map(asPattern);
    return removed;
  }

  readonly dispatch: RequestHandler = (request, response, next) => {
    const found = this.#routers.get(this.at(pathOf(request))?.path ?? '');
    if (found) found.router(request, response, next);
    else next();
  };

  #routerOf(path: string, { GET, ...endpoints }: PathRoutes): Router {
    const router = express.Router({ caseSensitive: true, strict: true });
    // That it matches is known; what Express means by `:name` is not always what is meant here.
    const route = router.route(/^/);
    route.path = path;
    if (typeof GET === 'function') route.get(GET);
    else if (GET) route.get(this.#answerWith((call) => this.#handlerOf(path, 'GET')(call)));
    const methods = BODY_METHODS.filter((method) => endpoints[method]);
    for (const method of methods) {
      const answer = this.#answerWith((call) => this.#handlerOf(path, method)(call));
      const before = this.#before[endpoints[method]?.body ?? 'json'];
      route[method.toLowerCase() as Lowercase<(typeof BODY_METHODS)[number]>](...before, answer);
    }
    route.all(methodNotAllowed([...(GET ? ['GET, HEAD'] : []), ...methods].join(', ')));
    return router;
  }

  /** The request has been read; what follows is the pipeline's. */
  #answerWith(handle: Handler): RequestHandler {
    return (_request, response) => {
      const exchange = requestContextOf(response);
      exchange.handle = handle;
      this.#pipeline.received(exchange);
    };
  }

  /** As the path is now. */
  #handlerOf(path: string, method: Method): Handler {
    const route: PathRoutes | undefined = this.#found.get(path)?.route;
    const answers = route?.[method];
    if (!answers || typeof answers === 'function') throw notThere();
    return answers.handle;
  }
}

const NONE: Parameters = {};

function asPattern(path: string) {
  return { path, matches: new RegExp(`^${path.replaceAll(/\/:(\w+)/g, '/(?<$1>[^/:]+)')}$`) };
}

/** What a router of a path is made of: with the same it may stay. */
function kindOf({ GET, ...endpoints }: PathRoutes): string {
  // A handler of Express's own is one file for as long as the app lives.
  const bodies = BODY_METHODS.map(
    (method) => endpoints[method] && (endpoints[method].body ?? 'json'),
  );
  return [GET && typeof GET, ...bodies].join(' ');
}

function notThere(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such path here.');
}

export const notFound: RequestHandler = () => {
  throw notThere();
};

export const answerError: ErrorRequestHandler = (raised, _request, response, _next) => {
  requestContextOf(response).fail(raised);
};

/** For what is left of a route once its methods are served. `allow`: as in the Allow header. */
function methodNotAllowed(allow: string): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new ServiceError('METHOD_NOT_ALLOWED', `This path accepts ${allow} only.`);
    }
    endResponse(response.status(204), undefined);
  };
}
