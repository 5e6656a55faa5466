import { ApiError } from './errors';
import { authorization, isKeyAsked } from './key';

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

export interface Answer<Body> {
  readonly body: Body;
  readonly timings: Timings;
}

/** @throws ApiError; the signal's reason when it is aborted */
export async function get<Body>(path: string, signal?: AbortSignal): Promise<Answer<Body>> {
  return ask(path, { cache: 'no-store' }, signal);
}

/** @throws ApiError; the signal's reason when it is aborted */
export async function post<Body>(
  path: string,
  value: unknown,
  signal?: AbortSignal,
): Promise<Answer<Body>> {
  const headers = { 'content-type': 'application/json' };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(value) }, signal);
}

async function ask<Body>(
  path: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Answer<Body>> {
  const startedAt = performance.now();
  let response: Response;
  let text: string;
  try {
    const headers = { ...init.headers, ...authorization() };
    response = await fetch(path, { ...init, headers, ...(signal && { signal }) });
    text = await response.text();
  } catch {
    signal?.throwIfAborted();
    throw new ApiError(null, 'The service cannot be reached.');
  }
  const total = performance.now() - startedAt;
  const body = parse(text);
  if (response.status === 401) isKeyAsked.value = true;
  if (!response.ok) throw toError(response, body);
  if (body === undefined) throw new ApiError(response.status, 'The answer is not JSON.');
  return { body: body as Body, timings: readTimings(response.headers, total) };
}

function toError(response: Response, body: unknown): ApiError {
  const detail = (body as { readonly detail?: unknown } | undefined)?.detail;
  const message =
    typeof detail === 'string' ? detail : response.statusText || 'No reason is given.';
  return new ApiError(response.status, message, readNumber(response.headers, 'retry-after'));
}

function readTimings(headers: Headers, total: number): Timings {
  return {
    total,
    queue: readNumber(headers, 'x-queue-time'),
    tokenization: readNumber(headers, 'x-tokenization-time'),
    inference: readNumber(headers, 'x-inference-time'),
    tokens: readNumber(headers, 'x-compute-tokens'),
  };
}

function readNumber(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  const value = text === null ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
