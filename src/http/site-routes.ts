import express, { type Request, type RequestHandler, type Router } from 'express';
import { decoded, errorFormats } from '../protocols/protocol';
import type { Method, Route } from '../protocols/route';
import { PathNotFoundError, ServiceError } from '../serving/errors';
import type { Parameters, RequestContext, ServiceResponse } from '../serving/request-context';
import type { RequestPipeline } from '../serving/request-pipeline';
import type { BodyReader } from './body';
import { discardBody } from './discard-body';
import {
  endResponse,
  type FoundRoutes,
  type RouteLookup,
  requestContextOf,
  type SiteRules,
} from './http-request-context';
import { pathOf } from './request-head';

/** A route of a protocol, or the Express handler of a static file. */
export type RouteHandler = Route | RequestHandler;

/** The methods of one path. HEAD is served by GET. */
type PathRoutes = ReadonlyMap<Method, RouteHandler>;

/** Address of a model, or of one of its versions. */
const MODEL_ADDRESS = /^\/models\/[^/]+(?:\/versions\/[^/]+)?(?=\/|$)/;
const VERSION = /\/versions\/[^/]+$/;
const NO_PARAMETERS: Parameters = {};
/** Order of the Allow header. */
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/**
 * The routes of a site, as Express routers: one for the root, and one for each model, so that a request is not
 * compared with the routes of other models. `publish` replaces the routes while requests are in flight: a request is
 * answered by the handler that its path has when its body has been read.
 *
 * In a path, `:name` matches everything up to the next slash or colon.
 */
export class SiteRoutes implements RouteLookup {
  readonly #bodies: BodyReader;
  readonly #pipeline: RequestPipeline;
  /** Rules of the published site, by path. */
  site: SiteRules = {
    isPublic: () => false,
    resourceOf: () => null,
    errorFormats: errorFormats([]),
  };
  #byPath: ReadonlyMap<string, PathRoutes> = new Map();
  #patterns: readonly { readonly path: string; readonly pattern: RegExp }[] = [];
  #routers = new Map<string, SiteRouter>();

  constructor(bodies: BodyReader, pipeline: RequestPipeline) {
    this.#bodies = bodies;
    this.#pipeline = pipeline;
  }

  /** @returns undefined if no route has this path */
  find(path: string): FoundRoutes | undefined {
    const routes = this.#byPath.get(path);
    if (routes) return { path, routes, parameters: NO_PARAMETERS };
    for (const { path: routePath, pattern } of this.#patterns) {
      const groups = pattern.exec(path)?.groups;
      if (!groups) continue;
      const parameters = Object.fromEntries(
        Object.entries(groups).map(([name, value]) => [name, decoded(value)]),
      );
      return { path: routePath, routes: this.#byPath.get(routePath) as PathRoutes, parameters };
    }
    return undefined;
  }

  /** Opens the WebSocket session of a path; null: the path accepts no WebSocket. */
  findUpgrade(path: string): Route['upgrade'] | null {
    const route = this.find(path)?.routes.get('GET');
    return (typeof route === 'object' && route.upgrade) || null;
  }

  /** Whether no route has this path any more, because its model was unloaded. @param path with `:names` */
  isRemoved(path: string): boolean {
    return !this.#byPath.has(path);
  }

  /**
   * Replaces all routes and rules.
   *
   * @returns paths of routes that no longer exist
   * @throws Error if two routes have the same path and method
   */
  publish(
    site: SiteRules,
    routes: readonly (readonly [path: string, method: Method, handler: RouteHandler])[],
  ): readonly string[] {
    this.site = site;
    const byPath = new Map<string, Map<Method, RouteHandler>>();
    for (const [path, method, handler] of routes) {
      const present = byPath.get(path) ?? new Map<Method, RouteHandler>();
      if (present.has(method)) throw new Error(`${path}: two routes have the method ${method}`);
      byPath.set(path, present.set(method, handler));
    }
    const removed = [...this.#byPath.keys()].filter((path) => !byPath.has(path));
    this.#byPath = byPath;
    this.#patterns = [...byPath.keys()]
      .filter((path) => path.includes('/:'))
      .map((path) => ({ path, pattern: namedPattern(path) }));
    this.#routers = this.#createRouters(byPath);
    return removed;
  }

  /** Express middleware: passes the request to the router of its model, or to the root's. */
  readonly dispatch: RequestHandler = (request, response, next) => {
    const root = this.#routers.get('')?.router as Router;
    const address = MODEL_ADDRESS.exec(pathOf(request))?.[0];
    const model =
      address && (this.#routers.get(address) ?? this.#routers.get(address.replace(VERSION, '')));
    if (!model) root(request, response, next);
    else {
      model.router(request, response, (error?: unknown) => {
        if (error) next(error);
        else root(request, response, next);
      });
    }
  };

  /** Creates routers by model address ('' is the root). A router whose routes are unchanged is kept. */
  #createRouters(byPath: ReadonlyMap<string, PathRoutes>): Map<string, SiteRouter> {
    const byAddress = new Map<string, [string, PathRoutes][]>([['', []]]);
    for (const [path, routes] of byPath) {
      const address = path.includes('/:') ? '' : (MODEL_ADDRESS.exec(path)?.[0] ?? '');
      const entries = byAddress.get(address) ?? [];
      entries.push([path, routes]);
      byAddress.set(address, entries);
    }
    const routers = new Map<string, SiteRouter>();
    for (const [address, entries] of byAddress) {
      const shape = shapeOf(entries);
      const present = this.#routers.get(address);
      routers.set(
        address,
        present?.shape === shape ? present : { shape, router: this.#createRouter(entries) },
      );
    }
    return routers;
  }

  #createRouter(entries: readonly (readonly [string, PathRoutes])[]): Router {
    const router = express.Router({ caseSensitive: true, strict: true });
    for (const [path, routes] of entries) {
      const expressRoute = router.route(routePattern(path));
      expressRoute.all(setRoutePath(path));
      for (const [method, handler] of routes) {
        expressRoute[lowerCase(method)](...this.#middleware(path, method, handler));
      }
      expressRoute.all(methodNotAllowed([...routes.keys()]));
    }
    return router;
  }

  /** Steps of a route: deadline, body, then the handler that the path has at that time. */
  #middleware(path: string, method: Method, handler: RouteHandler): readonly RequestHandler[] {
    const current = () => this.#byPath.get(path)?.get(method);
    if (typeof handler === 'function') {
      return [(request, response, next) => (current() as RequestHandler)(request, response, next)];
    }
    const kind = handler.body ?? 'json';
    const respond: RequestHandler = (request, response) => {
      this.#pipeline.respond(requestContextOf(response), (context) => {
        if (kind === 'stream') context.body = request;
        else if (method !== 'GET') context.body = this.#bodies.take(request, response, kind);
        const route = current();
        if (typeof route !== 'object') throw new PathNotFoundError();
        return kind === 'stream' ? handleStream(route, context, request) : route.handle(context);
      });
    };
    if (method === 'GET') return [respond];
    const checkDeadline: RequestHandler = (_request, response, next) => {
      const route = current();
      if (typeof route !== 'object') throw new PathNotFoundError();
      this.#pipeline.checkDeadline(requestContextOf(response), route.admissionError);
      next();
    };
    if (kind === 'stream') return [checkDeadline, respond];
    return [checkDeadline, ...this.#bodies.middleware(kind), respond];
  }
}

/** Runs a handler that reads the body itself. */
async function handleStream(
  route: Route,
  context: RequestContext,
  request: Request,
): Promise<ServiceResponse> {
  try {
    return await route.handle(context);
  } catch (error) {
    const isRead = await discardBody(request);
    if (!isRead) request.res?.setHeader('Connection', 'close');
    throw error;
  }
}

/** Express router of one model, or of the root. */
interface SiteRouter {
  /** Paths, methods and kinds of body: two sets of routes with the same shape can share a router. */
  readonly shape: string;
  readonly router: Router;
}

function shapeOf(entries: readonly (readonly [string, PathRoutes])[]): string {
  const lines = entries.map(([path, routes]) => {
    const methods = [...routes].map(([method, handler]) =>
      typeof handler === 'function' ? `${method} file` : `${method} ${handler.body ?? 'json'}`,
    );
    return `${path} ${methods.join(' ')}`;
  });
  return lines.join('\n');
}

/** Escapes the literal parts of a path. */
function escaped(path: string): string {
  return path.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function namedPattern(path: string): RegExp {
  return new RegExp(`^${escaped(path).replaceAll(/\/:(\w+)/g, '/(?<$1>[^/:]+)')}$`);
}

/** Without named groups: Express would decode them, and reject a malformed `%` with a 400 of its own. */
function routePattern(path: string): RegExp {
  return new RegExp(`^${escaped(path).replaceAll(/\/:\w+/g, '/[^/:]+')}$`);
}

function lowerCase(method: Method): Lowercase<Method> {
  return method.toLowerCase() as Lowercase<Method>;
}

function setRoutePath(path: string): RequestHandler {
  return (_request, response, next) => {
    requestContextOf(response).routePath = path;
    next();
  };
}

/** Answers OPTIONS with the methods of the path, and rejects other methods. */
function methodNotAllowed(methods: readonly Method[]): RequestHandler {
  const ordered = METHODS.filter((method) => methods.includes(method));
  const allow = ordered.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ');
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new ServiceError('METHOD_NOT_ALLOWED', `This path accepts ${allow} only.`);
    }
    endResponse(response.status(204), undefined);
  };
}

export const notFound: RequestHandler = () => {
  throw new PathNotFoundError();
};
