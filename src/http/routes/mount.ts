import type { Express, RequestHandler } from 'express';
import type { Endpoint } from '../../protocols/endpoint';
import { methodNotAllowed } from '../middleware/answer-errors';
import { answerWith } from '../send';

/** What stands before an endpoint, according to how it wants its body. */
export type BeforeEndpoint = Readonly<Record<'json' | 'bytes', readonly RequestHandler[]>>;

/** Routes by path: GET (and HEAD), POST or both. What is left of a path is 405. */
export class RouteTable {
  readonly #gets = new Map<string, RequestHandler>();
  readonly #posts = new Map<string, Endpoint>();

  /** @throws Error: there is one on its path */
  get(path: string, handle: RequestHandler): void {
    if (this.#gets.has(path)) throw new Error(`${path}: there are two routes for GET`);
    this.#gets.set(path, handle);
  }

  /** @throws Error: there is one on its path */
  post(endpoint: Endpoint): void {
    const { path } = endpoint;
    if (this.#posts.has(path)) throw new Error(`${path}: there are two routes for POST`);
    this.#posts.set(path, endpoint);
  }

  get paths(): ReadonlySet<string> {
    return new Set([...this.#posts.keys(), ...this.#gets.keys()]);
  }

  mount(app: Express, before: BeforeEndpoint): void {
    for (const path of this.paths) {
      const get = this.#gets.get(path);
      const post = this.#posts.get(path);
      const route = app.route(path);
      if (get) route.get(get);
      if (post) route.post(...before[post.body ?? 'json'], answerWith(post.handle));
      route.all(methodNotAllowed([get && 'GET, HEAD', post && 'POST'].filter(Boolean).join(', ')));
    }
  }
}
