import { randomUUID } from 'node:crypto';
import { Cancellation } from '../native/cancellation';
import { EngineError, type Inference, type InferOptions } from '../native/engine';
import { EVERYTHING, type ProtectedResource } from './access';
import { digestOf } from './credentials/api-keys';
import { type ServiceError, toServiceError } from './errors';
import type { RequestHeader, ResponseHeader } from './header-names';
import type { Readiness } from './readiness';
import type { SessionFactory } from './session';
import { roundMs, type Timings, timingsOf } from './timings';

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Values of the `:names` of a route in a path, by name. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** A successful response. */
export interface ServiceResponse {
  /** HTTP status, if it is not 200. */
  readonly status?: number;
  /** An object: as JSON, or as the message of gRPC. Bytes: as they are, with their Content-Type among `headers`. */
  readonly body: object | Buffer;
  /** Result of the engine for each element, for the timings; absent if no model ran. */
  readonly inferences?: readonly Inference[];
  /** Additional headers of HTTP. */
  readonly headers?: Readonly<Partial<Record<ResponseHeader, string | number>>>;
  /** Whether HTTP may compress bytes for clients that ask for it. */
  readonly isCompressible?: boolean;
  /** HTTP only: the response is a stream of server-sent events, and `body` is not sent. */
  readonly openSession?: SessionFactory;
}

/** A model that is to run. */
export interface ModelRef {
  readonly name: string;
  /** A guard asks it, for which the key may be. */
  readonly isGuardModel?: true;
  /** Null: its files do not say. */
  readonly version: string | null;
}

/** A route and the admission check of its model. */
export interface ModelRoute {
  /** Path with `:parameter` segments. */
  readonly path: string;
  /** The error with which the engine would reject a request with `timeoutMs` left; absent: no model runs. */
  readonly refusal?: (timeoutMs: number, parameters: Parameters) => EngineError | null;
}

/** How a request came and ended, for those who are told of it. */
export interface Outcome {
  readonly method: string;
  readonly httpVersion: string;
  /** That it asked, as the log and the metrics name it; null: there is none. */
  readonly route: string | null;
  /** The route was removed while the request was answered: its model was unloaded. */
  readonly isRouteRemoved?: boolean;
  /** Of HTTP. */
  readonly status: number;
  /** False: the client had gone. */
  readonly isAnswered: boolean;
}

/** A part of a request's way: it goes on with `next`, now or later, or ends here with an error. */
export type Stage = (exchange: RequestContext, next: (exchange: RequestContext) => void) => void;

/**
 * A request and its answer, from its arrival to its end. A transport says how it is received and
 * answered; `Pipeline` says when.
 */
export abstract class RequestContext {
  /** `performance.now()` at its arrival. */
  readonly startedAt = performance.now();
  readonly requestId: string;
  readonly readiness: Readiness;
  /** It arrived while the process was draining, and is refused. */
  readonly arrivedWhileDraining: boolean;
  /** Of the pipeline, that is next. */
  stage = 0;
  /** What it may take until the model runs, from its arrival, in ms. */
  timeoutMs = 0;
  /** JSON that has been parsed, a Buffer, or a message. */
  body: unknown;
  /** Answers it; none before it has come to a route. */
  handle: ((exchange: RequestContext) => ServiceResponse | Promise<ServiceResponse>) | null = null;
  /** Null before there is one, and where it is an error. */
  response: ServiceResponse | null = null;
  /** `performance.now()` when what is to be analyzed was handed to the engine. */
  submittedAt = 0;
  /** What the engine said of each element that was analyzed; none before the answer. */
  inferences: readonly Inference[] = [];
  /** What they took together; null: nothing was run. */
  timings: Timings | null = null;
  /** Where it was refused unread; null: it was not. */
  route: string | null = null;
  /** It is answered, or its client has gone. */
  isOver = false;
  /** What whoever asks may do. */
  access = EVERYTHING;
  /** The model that it has come to; null: to none. */
  model: ModelRef | null = null;
  /** What the answer is about, when it is an error. */
  error: Error | null = null;
  #cancellation: Cancellation | null = null;

  /** @param requestId the one that was sent: it is taken where it is sane */
  constructor(requestId: unknown, readiness: Readiness, isLate: boolean) {
    this.requestId =
      typeof requestId === 'string' && SANE_REQUEST_ID.test(requestId) ? requestId : randomUUID();
    this.readiness = readiness;
    this.arrivedWhileDraining = isLate;
  }

  /** What its path has in the places of `:names` of the route. */
  get parameters(): Parameters {
    return {};
  }

  /** What follows its path. */
  get query(): URLSearchParams {
    return new URLSearchParams();
  }

  /** Its path, where there is such a one. */
  abstract readonly routePath: string | null;
  /** It needs no key. */
  abstract readonly isPublic: boolean;
  /** It waits for its turn, and is refused where that would take too long. */
  abstract readonly isQueued: boolean;
  /** It was sent before an earlier one of its connection was answered. */
  abstract readonly isPipelined: boolean;
  /** By which keys are limited; null: the handler finds it out, or tells of what the key is for. */
  abstract readonly resource: ProtectedResource | null;
  /** Null: there is no such route, or it runs no model. */
  abstract readonly modelRoute: ModelRoute | null;
  /** Of headers or metadata, by its name in lower case. */
  abstract header(name: RequestHeader): string | undefined;
  /** That it brought; null: none, or more than one. */
  abstract apiKey(): string | null;
  /** Until its deadline, from its arrival, in ms. @throws ServiceError REQUEST_INVALID */
  abstract clientTimeoutMs(): number;
  /** Called when it is known who asks. */
  abstract onAuthorized(): void;
  /** Lets the transport read it; what follows is `Pipeline.received`. */
  abstract receive(): void;
  /** Makes `body` of what was read. @throws ServiceError BODY_INVALID */
  abstract parse(): void;
  /** The answer as it is sent, where that takes several turns. @throws ServiceError RESPONSE_TOO_LARGE */
  write(answer: ServiceResponse): ServiceResponse | Promise<ServiceResponse> {
    return answer;
  }

  abstract send(answer: ServiceResponse): void;
  /** @param raised what the error was made of: it may know how long what waits will take */
  protected abstract sendError(error: ServiceError, raised: unknown): void;

  /** See `Call`. */
  get owner(): string {
    const key = this.apiKey();
    return key === null ? '' : Buffer.from(digestOf(key)).toString('base64');
  }

  /** In ms, until its deadline. */
  get remainingMs(): number {
    return this.timeoutMs - (performance.now() - this.startedAt);
  }

  /** See `Call`. */
  inferOptions(asked: ModelRef, timeoutMs: number | null = null): InferOptions {
    const isGuarding = asked.isGuardModel === true && this.access.isGuarding;
    if (!isGuarding) this.access.require({ model: asked.name });
    this.model = asked;
    this.submittedAt = performance.now();
    if (timeoutMs !== null) this.timeoutMs = Math.min(this.timeoutMs, timeoutMs);
    const remainingMs = this.timeoutMs - (this.submittedAt - this.startedAt);
    if (remainingMs <= 0) {
      throw new EngineError('DEADLINE_EXCEEDED', 'The deadline passed before the model ran.');
    }
    this.#cancellation ??= new Cancellation();
    return { signal: this.#cancellation, timeoutMs: remainingMs };
  }

  /** What was run for it, for its answer, the log, the metrics and the span. */
  recordInferences(inferences: readonly Inference[]): void {
    this.inferences = inferences;
    this.timings = timingsOf(inferences);
  }

  /** Answers it with an error, whatever was raised. */
  fail(raised: unknown): void {
    const error = toServiceError(raised, {
      timeoutMs: roundMs(this.timeoutMs),
      requestId: this.requestId,
    });
    this.error = raised instanceof Error ? raised : error;
    try {
      this.sendError(error, raised);
    } catch (another) {
      // Callers are listeners, timers and promises: whatever they throw would be an error of the process.
      this.error = another as Error;
      this.abort();
    }
  }

  /** Closes its stream or connection at once: not even an error can be sent. */
  abstract abort(): void;

  /** The same before it is read. @param route that it asks, null: there is none */
  refuse(raised: Error, route: string | null): void {
    if (this.isOver) return; // the client has gone
    this.route = route;
    this.fail(raised);
  }

  /** Nobody waits any more for what it has begun. */
  cancel(): void {
    this.#cancellation?.abort();
  }
}
