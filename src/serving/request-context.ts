import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { EngineError, type Inference, type InferOptions } from '../native/engine';
import { Cancellation } from '../native/pending-requests';
import { FULL_ACCESS, type ProtectedResource } from './access';
import { digestOf } from './credentials/api-keys';
import { type ServiceError, toServiceError } from './errors';
import type { RequestHeader, ResponseHeader } from './header-names';
import type { Readiness } from './readiness';
import type { SessionFactory } from './session';

const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Values of the `:names` of a route's path, by name. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** Content of a response that is not held in memory. */
export interface ResponseContent {
  /** Size in bytes. */
  readonly bytes: number;
  /** Opens the content; not called for HEAD. */
  readonly open: () => Readable;
}

/** A successful response. */
export interface ServiceResponse {
  /** HTTP status, if it is not 200. */
  readonly status?: number;
  /** An object: sent as JSON, or as the gRPC message. A Buffer: sent unchanged, with its Content-Type in `headers`. */
  readonly body: object | Buffer;
  /** Engine result of each input, for the timings; absent if no model ran. */
  readonly inferences?: readonly Inference[];
  /** Additional HTTP headers. */
  readonly headers?: Readonly<Partial<Record<ResponseHeader, string | number>>>;
  /** Whether HTTP may compress a Buffer. */
  readonly isCompressible?: boolean;
  /** HTTP only: content that is read while it is sent; `body` is not sent. */
  readonly content?: ResponseContent;
  /** HTTP only: the response is a stream of server-sent events, and `body` is not sent. */
  readonly openSession?: SessionFactory;
}

/** The model of a request, for access checks, log and metrics. */
export interface ModelRef {
  readonly name: string;
  /** The guardrail runs the model: a key for the guardrail is sufficient. */
  readonly isGuardModel?: true;
  /** Null: the model's files do not specify it. */
  readonly version: string | null;
}

/** A route that may run a model. */
export interface ModelRoute {
  readonly path: string;
  /**
   * Admission error of the model's queue for a request with this remaining time in ms; null: it would be accepted.
   * Absent: the route runs no model.
   */
  readonly admissionError?: (timeoutMs: number, parameters: Parameters) => EngineError | null;
}

/** Result of a request, for log, metrics and trace. */
export interface Outcome {
  readonly method: string;
  readonly httpVersion: string;
  /** Path of the route, with its `:names`; null: no route matches. */
  readonly route: string | null;
  /** The route was removed during the request: its model was unloaded. */
  readonly isRouteRemoved?: boolean;
  /** HTTP status. */
  readonly status: number;
  /** False: the client disconnected first. */
  readonly isAnswered: boolean;
}

/** Summary of the inferences of one request: times in ms, the longest of its inputs. */
export interface Timings {
  readonly queueMs: number;
  readonly tokenizationMs: number;
  /** Duration of the batch. */
  readonly inferenceMs: number;
  /** Number of inputs in the largest batch. */
  readonly batchSize: number;
  /** Sum over all inputs. */
  readonly tokens: number;
  /** Whether at least one text was truncated. */
  readonly truncated: boolean;
}

/** Null: no inferences. */
export function timingsOf(inferences: readonly Inference[]): Timings | null {
  const [first, ...others] = inferences;
  if (!first || others.length === 0) return first ?? null;
  const summary = { ...first };
  for (const next of others) {
    summary.queueMs = Math.max(summary.queueMs, next.queueMs);
    summary.tokenizationMs = Math.max(summary.tokenizationMs, next.tokenizationMs);
    summary.inferenceMs = Math.max(summary.inferenceMs, next.inferenceMs);
    summary.batchSize = Math.max(summary.batchSize, next.batchSize);
    summary.tokens += next.tokens;
    summary.truncated ||= next.truncated;
  }
  return summary;
}

/** Rounds to microseconds. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

/** Sets the response headers (gRPC: trailers) with the timings, in ms. */
export function setTimingHeaders(
  timings: Timings,
  set: (name: ResponseHeader, value: number | string) => void,
): void {
  set('X-Queue-Time', roundMs(timings.queueMs));
  set('X-Tokenization-Time', roundMs(timings.tokenizationMs));
  set('X-Inference-Time', roundMs(timings.inferenceMs));
  set('X-Compute-Tokens', timings.tokens);
  if (timings.truncated) set('X-Input-Truncated', 'true');
}

/** A request from its arrival to its end. Each transport implements it; `RequestPipeline` runs it. */
export abstract class RequestContext {
  /** `performance.now()` at arrival. */
  readonly startedAt = performance.now();
  readonly requestId: string;
  readonly readiness: Readiness;
  /** The request arrived during shutdown, and is rejected. */
  readonly arrivedWhileDraining: boolean;
  /** Time from arrival to the start of inference, in ms. */
  timeoutMs = 0;
  /** Parsed JSON, a Buffer, or a gRPC message. */
  body: unknown;
  /** `performance.now()` when the inputs were submitted to the engine. */
  submittedAt = 0;
  /** Engine result of each input; empty before the response. */
  inferences: readonly Inference[] = [];
  /** Summary of `inferences`; null: no model ran. */
  timings: Timings | null = null;
  /** Path of the matching route, with its `:names`; null: not routed yet, or no route matches. */
  routePath: string | null = null;
  /** The request ended before its body was read. */
  isUnread = false;
  /** The response was sent, or the client disconnected. */
  isOver = false;
  /** Permissions of the API key. */
  access = FULL_ACCESS;
  /** The model that the handler chose; null: none. */
  model: ModelRef | null = null;
  /** The error that was sent. */
  error: Error | null = null;
  #cancellation: Cancellation | null = null;

  /** @param requestId X-Request-Id of the client; replaced by a random one if it is invalid */
  constructor(requestId: unknown, readiness: Readiness, arrivedWhileDraining: boolean) {
    this.requestId =
      typeof requestId === 'string' && VALID_REQUEST_ID.test(requestId) ? requestId : randomUUID();
    this.readiness = readiness;
    this.arrivedWhileDraining = arrivedWhileDraining;
  }

  get parameters(): Parameters {
    return {};
  }

  get query(): URLSearchParams {
    return new URLSearchParams();
  }

  /** The request needs no API key. */
  abstract readonly isPublic: boolean;
  /** The request waits for its turn on the event loop. False for probes and other reads. */
  abstract readonly isQueued: boolean;
  /** The client sent the request before an earlier request of the connection was answered. */
  abstract readonly isPipelined: boolean;
  /** What the API key must permit, derived from the path; null: the handler checks the model itself. */
  abstract readonly resource: ProtectedResource | null;
  /** Header or metadata value by lower-case name. */
  abstract header(name: RequestHeader): string | undefined;
  /** API key; null: none, or several. */
  abstract apiKey(): string | null;
  /** Deadline that the client requests, in ms from arrival. @throws ServiceError REQUEST_INVALID */
  abstract clientTimeoutMs(): number;
  /** Called when the request is authenticated: HTTP then sends `100 Continue`. */
  abstract onAuthorized(): void;
  /** Serializes large responses over several turns. @throws ServiceError RESPONSE_TOO_LARGE */
  serialize(response: ServiceResponse): ServiceResponse | Promise<ServiceResponse> {
    return response;
  }

  abstract send(response: ServiceResponse): void;
  /** @param raised the original error, which may specify the expected queue wait */
  protected abstract sendError(error: ServiceError, raised: unknown): void;
  /** Closes the connection or stream at once. */
  abstract abort(): void;
  /** Path of the route of a request that is rejected before routing; null: no route matches. */
  protected abstract findRoutePath(): string | null;

  /** Hash of the API key: identifies the owner of a stream. Empty without a key. */
  get owner(): string {
    const key = this.apiKey();
    return key === null ? '' : Buffer.from(digestOf(key)).toString('base64');
  }

  /** Time to the deadline, in ms. */
  get remainingMs(): number {
    return this.timeoutMs - (performance.now() - this.startedAt);
  }

  /** See `ServiceRequest.inferOptions`. */
  inferOptions(model: ModelRef, timeoutMs: number | null = null): InferOptions {
    if (this.access !== FULL_ACCESS) this.access.requireInference(model);
    this.model = model;
    this.submittedAt = performance.now();
    if (timeoutMs !== null) this.timeoutMs = Math.min(this.timeoutMs, timeoutMs);
    const remainingMs = this.timeoutMs - (this.submittedAt - this.startedAt);
    if (remainingMs <= 0) {
      throw new EngineError('DEADLINE_EXCEEDED', 'The deadline passed before the model ran.');
    }
    this.#cancellation ??= new Cancellation();
    return { signal: this.#cancellation, timeoutMs: remainingMs };
  }

  recordInferences(inferences: readonly Inference[]): void {
    this.inferences = inferences;
    this.timings = timingsOf(inferences);
  }

  /** Ends the request with an error response, whatever was raised. Does not throw. */
  fail(raised: unknown): void {
    const error = toServiceError(raised, {
      timeoutMs: roundMs(this.timeoutMs),
      requestId: this.requestId,
    });
    this.error = raised instanceof Error ? raised : error;
    try {
      this.sendError(error, raised);
    } catch (sendError) {
      // Callers are listeners, timers and promises: an error thrown here would end the process.
      this.error = sendError as Error;
      this.abort();
    }
  }

  /** Ends the request with an error before its body is read. */
  reject(raised: Error): void {
    if (this.isOver) return;
    this.routePath ??= this.findRoutePath();
    this.isUnread = true;
    this.fail(raised);
  }

  /** Cancels the inferences of the request. */
  cancel(): void {
    this.#cancellation?.abort();
  }
}
