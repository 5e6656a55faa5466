import type { HealthResponse } from '../protocols/own/info';
import { withTimeout } from './abort-signals';
import { BatchPipeline, type ListLimits, type ListRoute } from './batch-pipeline';
import { ResponseError } from './client-errors';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import { type CallOptions, withRetries } from './retry';
import type { SocketRoute, WebSocketClass } from './streams/connection';

export interface ClientOptions {
  /** API key, sent as `Authorization: Bearer …`; takes precedence over `headers`. */
  readonly apiKey?: string;
  /** Default timeout of a call in ms. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Headers of every request, such as `x-request-id`. Streams use only the API key, because WebSocket sends no headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** WebSocket class for streams. Default: the global class; Node.js has one since version 22, use `ws` before. */
  readonly WebSocket?: WebSocketClass;
}

const TIMEOUT_MS = 60_000;
const STREAM_PROTOCOL = 'libtorch-serve.stream';
/** Status of a plain HTTP request to a WebSocket path. */
const UPGRADE_REQUIRED = 426;

/** Base class of all clients. */
export class Client<Info extends { readonly limits: ListLimits }> {
  readonly #url: string;
  readonly #options: ClientOptions;

  /**
   * @param url URL of the server, such as `http://localhost:8000`, including the path prefix of a proxy
   * @throws TypeError if the API key is not a valid header value
   */
  constructor(url: string, options: ClientOptions = {}) {
    // `fetch` would reject the API key as well, but quote it in the error.
    if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('apiKey: expected visible ASCII characters without spaces');
    }
    this.#url = url.replace(/\/+$/, '');
    this.#options = options;
  }

  /** @throws ResponseError; TypeError if the server is unreachable; see `CallOptions` */
  health(options?: CallOptions): Promise<HealthResponse> {
    return this.call('/health', undefined, options);
  }

  /** Returns whether the server is ready for requests (not 503). @throws the other errors of `health` */
  async ready(options?: CallOptions): Promise<boolean> {
    try {
      await this.call('/ready', undefined, options);
      return true;
    } catch (error) {
      if (error instanceof ResponseError && error.status === 503) return false;
      throw error;
    }
  }

  info(options?: CallOptions): Promise<Info> {
    return this.call('/info', undefined, options);
  }

  /** Sends a GET request, or a POST request if `body` (an object or JSON) is given. */
  protected call<Body>(
    path: string,
    body?: object | string,
    options: CallOptions = {},
  ): Promise<Body> {
    const { signal, timeoutMs = this.timeoutMs } = options;
    const json = typeof body === 'object' ? JSON.stringify(body) : body;
    const attempt = (): Promise<Body> =>
      withTimeout(signal, timeoutMs, (either) => this.#attempt(path, json, either));
    return withRetries(attempt, options);
  }

  /** Sends all elements of a source to a list route. */
  protected sendAll<Element, Result>(
    path: string,
    list: Pick<ListRoute<Element, Result>, 'field' | 'rest' | 'toJson'>,
    source: AllSource<Element>,
    options: AllOptions,
  ): AsyncIterableIterator<Outcome<Element, Result>> {
    const route = {
      ...list,
      send: async (body: string, call: CallOptions) =>
        (await this.call<{ readonly results: readonly Result[] }>(path, body, call)).results,
      limits: async (call: CallOptions) => (await this.info(call)).limits,
    };
    return new BatchPipeline(route, source, options);
  }

  /** Default timeout of a call in ms. */
  protected get timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  /** @throws TypeError if no WebSocket class is available */
  protected socketRoute(path: string): SocketRoute {
    const Kind = this.#options.WebSocket ?? (globalThis.WebSocket as WebSocketClass | undefined);
    if (!Kind) throw new TypeError('WebSocket: no global class. Pass the class of `ws` as option');
    const url = `${this.#url}${path}`.replace(/^http/i, 'ws');
    return {
      connect: () => new Kind(url, this.#subprotocols()),
      findError: (signal) =>
        this.#attempt(path, undefined, signal).catch((error: unknown) => {
          const isUpgradeMissing =
            error instanceof ResponseError && error.status === UPGRADE_REQUIRED;
          return isUpgradeMissing ? new TypeError(`${url}: WebSocket connection failed`) : error;
        }),
    };
  }

  /** WebSocket subprotocols, which carry the API key because browsers cannot set headers. */
  #subprotocols(): string[] {
    const { apiKey, headers } = this.#options;
    const header = new Headers(headers).get('authorization') ?? '';
    const key = apiKey ?? /^Bearer (\S+)$/i.exec(header)?.[1];
    if (key === undefined) return [STREAM_PROTOCOL];
    const base64 = btoa(key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    return [STREAM_PROTOCOL, `libtorch-serve.key.${base64}`];
  }

  async #attempt<Body>(path: string, body: string | undefined, signal: AbortSignal): Promise<Body> {
    const send = this.#options.fetch ?? fetch;
    const headers = new Headers(this.#options.headers);
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await send(`${this.#url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      signal,
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Body;
    throw ResponseError.of(response, text);
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
