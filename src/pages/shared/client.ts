import type { ClientOptions } from '../../client';
import { isKeyRequired, key } from './api-key';
import { UnreachableError } from './errors';

/** Duration of one request and its parts, in milliseconds. Null if the response has no such header. */
export interface Timings {
  /** From sending the request to reading the whole body, measured by the page. */
  readonly total: number;
  readonly queue: number | null;
  readonly tokenization: number | null;
  readonly inference: number | null;
  /** Number of tokens that the model computed. */
  readonly tokens: number | null;
}

type ClientClass<Client> = new (url: string, options: ClientOptions) => Client;

/** Largest delay of a timer. The server has its own timeout. */
const TIMEOUT_MS = 2 ** 31 - 1;

/** Creates a client of the server that sent this page, with the API key that the user entered. */
export function createClient<Client>(
  Kind: ClientClass<Client>,
  onResponse: (headers: Headers) => void = () => {},
): Client {
  const fetchText: typeof fetch = async (url, init) => {
    const { response, body } = await readText(url, init ?? {});
    if (response.status === 401) isKeyRequired.value = true;
    onResponse(response.headers);
    return new Response(body, response);
  };
  return new Kind(new URL(serviceUrl('.'), location.href).href, {
    ...(key.value !== null && { apiKey: key.value }),
    timeoutMs: TIMEOUT_MS,
    fetch: fetchText,
  });
}

/** Reads a response to its end. @throws UnreachableError, or the reason of an aborted signal */
async function readText(url: Parameters<typeof fetch>[0], init: RequestInit) {
  try {
    const response = await fetch(url, { ...init, cache: 'no-store' });
    return { response, body: await response.text() };
  } catch {
    init.signal?.throwIfAborted();
    throw new UnreachableError();
  }
}

export interface TimedResponse<Body> {
  readonly body: Body;
  readonly timings: Timings;
  /** The model ignored the end of at least one text. */
  readonly isTruncated: boolean;
}

/** Sends a request and measures it. @throws the errors of the client */
export async function timeRequest<Client, Body>(
  Kind: ClientClass<Client>,
  send: (client: Client) => Promise<Body>,
): Promise<TimedResponse<Body>> {
  let headers = new Headers();
  const client = createClient(Kind, (received) => {
    headers = received;
  });
  const startedAt = performance.now();
  const body = await send(client);
  const total = performance.now() - startedAt;
  const header = (name: string): number | null => {
    const value = Number(headers.get(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  return {
    body,
    isTruncated: headers.get('x-input-truncated') === 'true',
    timings: {
      total,
      queue: header('x-queue-time'),
      tokenization: header('x-tokenization-time'),
      inference: header('x-inference-time'),
      tokens: header('x-compute-tokens'),
    },
  };
}

/** URL of a path of the server, relative to the page: a model's page lies below the server's root. */
export function serviceUrl(path: string): string {
  return document.documentElement.dataset.service + path;
}
