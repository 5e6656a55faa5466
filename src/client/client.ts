import type { HealthResponse } from '../protocols/own/info';
import { withTimeout } from './abort-signals';
import { BatchPipeline, type ListLimits, type ListRoute } from './batch-pipeline';
import { ResponseError } from './client-errors';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import { type CallOptions, withRetries } from './retry';
import type { SocketRoute, WebSocketClass } from './streams/connection';

export interface ClientOptions {
  /** Sent as `Authorization: Bearer …`, where the service has keys; wins over one in `headers`. */
  readonly apiKey?: string;
  /** Longest wait for an answer, in ms, unless a call has its own. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Sent with every request, such as `x-request-id`; a stream, whose WebSocket sends none, takes a key from them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** For streams. Default: the global one, which Node.js has from 22 on; before, that of `ws`. */
  readonly WebSocket?: WebSocketClass;
}

const TIMEOUT_MS = 60_000;
const STREAM_PROTOCOL = 'libtorch-serve.stream';
/** Of a request for a path that is for WebSockets. */
const UPGRADE_REQUIRED = 426;

/** What the clients of all models share. */
export class Client<Info extends { readonly limits: ListLimits }> {
  readonly #url: string;
  readonly #options: ClientOptions;

  /**
   * @param url of the service, such as `http://localhost:8000`, with the path that it has behind a proxy
   * @throws TypeError: the key cannot be one
   */
  constructor(url: string, options: ClientOptions = {}) {
    // `fetch` would say so itself, and quote it.
    if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('apiKey: expected visible ASCII characters without spaces');
    }
    this.#url = url.replace(/\/+$/, '');
    this.#options = options;
  }

  /** @throws ResponseError; a TypeError where the service cannot be reached; see `CallOptions` */
  health(options?: CallOptions): Promise<HealthResponse> {
    return this.call('/health', undefined, options);
  }

  /** Whether requests should be sent there. @throws as `health`, but for 503 */
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

  /** POSTs where there is a body, an object or JSON. */
  protected call<Answer>(
    path: string,
    body?: object | string,
    options: CallOptions = {},
  ): Promise<Answer> {
    const { signal, timeoutMs = this.timeoutMs } = options;
    const json = typeof body === 'object' ? JSON.stringify(body) : body;
    const attempt = (): Promise<Answer> =>
      withTimeout(signal, timeoutMs, (either) => this.#attempt(path, json, either));
    return withRetries(attempt, options);
  }

  protected sendAll<Element, Result>(
    path: string,
    list: Pick<ListRoute<Element, Result>, 'field' | 'rest' | 'jsonOf'>,
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

  /** In ms, unless a call has its own. */
  protected get timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  /** @throws TypeError: there are no WebSockets here */
  protected socketRoute(path: string): SocketRoute {
    const Kind = this.#options.WebSocket ?? (globalThis.WebSocket as WebSocketClass | undefined);
    if (!Kind)
      throw new TypeError('WebSocket: there is no global one; give that of `ws` as option');
    const url = `${this.#url}${path}`.replace(/^http/i, 'ws');
    return {
      connect: () => new Kind(url, this.#subprotocols()),
      findError: (signal) =>
        this.#attempt(path, undefined, signal).catch((error: unknown) => {
          const isUpgradeMissing =
            error instanceof ResponseError && error.status === UPGRADE_REQUIRED;
          return isUpgradeMissing ? new TypeError(`${url}: the WebSocket was not opened`) : error;
        }),
    };
  }

  /** Which bring the key: a page can set no headers. */
  #subprotocols(): string[] {
    const { apiKey, headers } = this.#options;
    const header = new Headers(headers).get('authorization') ?? '';
    const key = apiKey ?? /^Bearer (\S+)$/i.exec(header)?.[1];
    if (key === undefined) return [STREAM_PROTOCOL];
    const base64 = btoa(key).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    return [STREAM_PROTOCOL, `libtorch-serve.key.${base64}`];
  }

  async #attempt<Answer>(
    path: string,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
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
    if (response.ok) return JSON.parse(text) as Answer;
    throw ResponseError.of(response, text);
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
