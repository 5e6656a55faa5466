import type { ClientOptions } from '../../client';
import { UnreachableError } from './errors';
import { isKeyAsked, key } from './key';
import { atService } from './service';

/** Where the time of one answer went, in milliseconds. */
export interface Timings {
  /** From asking to having read the answer, as seen from here. */
  readonly total: number;
  /** null: the service did not say. */
  readonly queue: number | null;
  readonly tokenization: number | null;
  readonly inference: number | null;
  /** That were computed; null: the service did not say. */
  readonly tokens: number | null;
}

type ClientClass<Client> = new (url: string, options: ClientOptions) => Client;

/** Deadlines are the service's own; this is the longest that a timer takes. */
const TIMEOUT_MS = 2 ** 31 - 1;
/** A client of the service that this page came from, with the key that was entered. */
export function connect<Client>(
  Kind: ClientClass<Client>,
  onAnswer: (headers: Headers) => void = () => {},
): Client {
  const ask: typeof fetch = async (url, init) => {
    const { answer, body } = await read(url, init ?? {});
    if (answer.status === 401) isKeyAsked.value = true;
    onAnswer(answer.headers);
    return new Response(body, answer);
  };
  return new Kind(new URL(atService('.'), location.href).href, {
    ...(key.value !== null && { apiKey: key.value }),
    timeoutMs: TIMEOUT_MS,
    fetch: ask,
  });
}

/** Body and all. @throws UnreachableError; the signal's reason when it is aborted */
async function read(url: Parameters<typeof fetch>[0], init: RequestInit) {
  try {
    const answer = await fetch(url, { ...init, cache: 'no-store' });
    return { answer, body: await answer.text() };
  } catch {
    init.signal?.throwIfAborted();
    throw new UnreachableError();
  }
}

/** What the service said. */
export interface Timed<Body> {
  readonly body: Body;
  readonly timings: Timings;
  /** A text was longer than the model takes, and was cut. */
  readonly isCut: boolean;
}

/** What the client was asked for, and how long it took. @throws as the client */
export async function timed<Client, Body>(
  Kind: ClientClass<Client>,
  ask: (client: Client) => Promise<Body>,
): Promise<Timed<Body>> {
  let headers = new Headers();
  const client = connect(Kind, (answered) => {
    headers = answered;
  });
  const startedAt = performance.now();
  const body = await ask(client);
  const total = performance.now() - startedAt;
  const header = (name: string): number | null => {
    const value = Number(headers.get(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : null;
  };
  const queue = header('x-queue-time');
  const tokenization = header('x-tokenization-time');
  const inference = header('x-inference-time');
  return {
    body,
    isCut: headers.get('x-input-truncated') === 'true',
    timings: { total, queue, tokenization, inference, tokens: header('x-compute-tokens') },
  };
}
