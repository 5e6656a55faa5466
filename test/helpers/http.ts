import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { until } from './until';

/** Where a service listens; a `Service` is one. */
export interface Address {
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly agent?: http.Agent;
  readonly signal?: AbortSignal;
  /** Over TLS: the certificate that the service has to show. */
  readonly ca?: string;
}

export function request(service: Address, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { body, agent, signal, ca } = options;
    const send = ca === undefined ? http.request : https.request;
    const outgoing = send(
      {
        host: '127.0.0.1',
        port: service.port,
        method: options.method ?? 'GET',
        path: options.path,
        // A header that is undefined is left out.
        headers: Object.fromEntries(
          Object.entries(options.headers ?? {}).filter(([, value]) => value !== undefined),
        ),
        // By default a connection of its own.
        agent: agent ?? false,
        ...(signal && { signal }),
        ...(ca !== undefined && { ca }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            bytes,
            json: parse(text),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends `value` as JSON. */
export function post(
  service: Address,
  path: string,
  value: unknown,
  options: Partial<RequestOptions> = {},
): Promise<Answer> {
  return postRaw(service, path, JSON.stringify(value), options);
}

/** One text for the sentiment service. */
export function analyze(
  service: Address,
  text: unknown,
  options: Partial<RequestOptions> = {},
): Promise<Answer> {
  return post(service, '/analyze', { text }, options);
}

/** One window for the EEG service. */
export function predict(service: Address, signal: readonly number[]): Promise<Answer> {
  return post(service, '/predict', { signal });
}

/** Asks one time after the other until an answer has this status; that answer. */
export function untilStatus(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  return until(`an answer of status ${status}`, async () => {
    const answer = await ask();
    return answer.status === status && answer;
  });
}

/** Sends a body as it is, as JSON if no header says otherwise. */
export function postRaw(
  service: Address,
  path: string,
  body: string | Buffer,
  options: Partial<RequestOptions> = {},
): Promise<Answer> {
  return request(service, {
    method: 'POST',
    path,
    body,
    ...options,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...options.headers,
    },
  });
}

/** Writes bytes to a connection and resolves with all that comes back until it is closed. */
export function exchange(service: Address, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(service.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
