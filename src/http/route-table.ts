import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import type { Endpoint, Handler } from '../protocols/endpoint';
import { ServiceError } from '../serving/errors';
import type { Pipeline } from '../serving/pipeline';
import type { Bodies } from './body';
import { exchangeOf } from './exchange';
import { endWith } from './send';

/** Routes by path: GET (and HEAD), POST or both. What is left of a path is 405. */
export class RouteTable {
  readonly #gets = new Map<string, RequestHandler | Pick<Endpoint, 'handle'>>();
  readonly #posts = new Map<string, Endpoint>();

  /** @throws Error: there is one on its path */
  get(path: string, route: RequestHandler | Pick<Endpoint, 'handle'>): void {
    if (this.#gets.has(path)) throw new Error(`${path}: there are two routes for GET`);
    this.#gets.set(path, route);
  }

  /** @throws Error: there is one on its path */
  post(endpoint: Endpoint): void {
    const { path } = endpoint;
    if (this.#posts.has(path)) throw new Error(`${path}: there are two routes for POST`);
    this.#posts.set(path, endpoint);
  }

  get endpoints(): ReadonlyMap<string, Endpoint> {
    return this.#posts;
  }

  get paths(): ReadonlySet<string> {
    return new Set([...this.#posts.keys(), ...this.#gets.keys()]);
  }

  /** What is left of a path is 405, and what of all paths 404; every error becomes an answer. */
  mount(app: Express, bodies: Bodies, pipeline: Pipeline): void {
    const before = { json: bodies.before('json'), bytes: bodies.before('bytes') };
    for (const path of this.paths) {
      const get = this.#gets.get(path);
      const post = this.#posts.get(path);
      const route = app.route(path);
      if (get) route.get(typeof get === 'function' ? get : answerWith(get.handle, pipeline));
      if (post) route.post(...before[post.body ?? 'json'], answerWith(post.handle, pipeline));
      route.all(methodNotAllowed([get && 'GET, HEAD', post && 'POST'].filter(Boolean).join(', ')));
    }
    app.use(notFound);
    app.use(answerError);
  }
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
