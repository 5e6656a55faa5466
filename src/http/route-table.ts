import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import type { Endpoint, Handler } from '../protocols/endpoint';
import { ServiceError } from '../serving/errors';
import type { Pipeline } from '../serving/pipeline';
import type { Bodies } from './body';
import { exchangeOf } from './exchange';
import { pathOf } from './request-target';
import { endWith } from './send';

type Get = RequestHandler | Pick<Endpoint, 'handle'>;

/** What a path is asked for: GET (and HEAD), POST or both. */
export interface Route {
  readonly GET?: Get;
  readonly POST?: Endpoint;
}

/** By path, in which `:name` stands for anything up to the next slash. */
export type Routes = ReadonlyMap<string, Route>;

/** @throws Error: there are two for a method of one path */
export function routesByPath(entries: readonly (readonly [path: string, route: Route])[]): Routes {
  const routes = new Map<string, Route>();
  for (const [path, route] of entries) {
    const present = routes.get(path);
    for (const method of ['GET', 'POST'] as const) {
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
  #routes: Routes = new Map();
  #patterns: readonly { readonly path: string; readonly matches: RegExp }[] = [];
  /** One for each path: to look for one among the routes of hundreds of models would take long. */
  #routers = new Map<string, { readonly kind: string; readonly router: Router }>();

  constructor(bodies: Bodies, pipeline: Pipeline) {
    this.#before = { json: bodies.before('json'), bytes: bodies.before('bytes') };
    this.#pipeline = pipeline;
  }

  at(path: string): Route | undefined {
    return this.#routes.get(this.#patternOf(path));
  }

  /** From now on these are all there are. */
  show(routes: Routes): void {
    const routers = new Map<string, { readonly kind: string; readonly router: Router }>();
    for (const [path, route] of routes) {
      const kind = kindOf(route);
      const known = this.#routers.get(path);
      routers.set(
        path,
        known?.kind === kind ? known : { kind, router: this.#routerOf(path, route) },
      );
    }
    this.#routes = routes;
    this.#routers = routers;
    this.#patterns = [...routes.keys()].filter((path) => path.includes(':')).map(asPattern);
  }

  readonly dispatch: RequestHandler = (request, response, next) => {
    const found = this.#routers.get(this.#patternOf(pathOf(request)));
    if (found) found.router(request, response, next);
    else next();
  };

  /** The path of the route that stands for it; itself where none does. */
  #patternOf(path: string): string {
    if (this.#routes.has(path)) return path;
    return this.#patterns.find(({ matches }) => matches.test(path))?.path ?? path;
  }

  #routerOf(path: string, { GET, POST }: Route): Router {
    const router = express.Router({ caseSensitive: true, strict: true });
    const route = router.route(path);
    if (typeof GET === 'function') route.get(GET);
    else if (GET) route.get(this.#answerWith((call) => this.#handlerOf(path, 'GET')(call)));
    if (POST) {
      const answer = this.#answerWith((call) => this.#handlerOf(path, 'POST')(call));
      route.post(...this.#before[POST.body ?? 'json'], answer);
    }
    route.all(methodNotAllowed([GET && 'GET, HEAD', POST && 'POST'].filter(Boolean).join(', ')));
    return router;
  }

  /** The request has been read; what follows is the pipeline's. */
  #answerWith(handle: Handler): RequestHandler {
    return (_request, response) => {
      const exchange = exchangeOf(response);
      exchange.handle = handle;
      this.#pipeline.received(exchange);
    };
  }

  /** As the path is now. */
  #handlerOf(path: string, method: 'GET' | 'POST'): Handler {
    const route = this.#routes.get(path)?.[method];
    if (!route || typeof route === 'function') throw notThere();
    return route.handle;
  }
}

function asPattern(path: string) {
  return { path, matches: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) };
}

/** What a router of a path is made of: with the same it may stay. */
function kindOf({ GET, POST }: Route): string {
  // A handler of Express's own is one file for as long as the app lives.
  return `${GET ? typeof GET : ''} ${POST ? (POST.body ?? 'json') : ''}`;
}

function notThere(): ServiceError {
  return new ServiceError('NOT_FOUND', 'There is no such path here.');
}

export const notFound: RequestHandler = () => {
  throw notThere();
};

export const answerError: ErrorRequestHandler = (raised, _request, response, _next) => {
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
