import { EngineError } from '../native/engine';
import { ExpectedError } from '../native/engine-error';
import { describeUnexpected } from '../native/unexpected-error';
import { Access, isUnlimited } from './access';
import { ElementError, ERRORS, type ErrorCode, type RejectionReason, ServiceError } from './errors';
import {
  type ModelRoute,
  type Outcome,
  type RequestContext,
  roundMs,
  type ServiceResponse,
} from './request-context';
import type { ServerContext } from './server-context';
import { parseTraceparent, type TraceContext } from './tracing/trace-context';

/** Page of the documentation with cause and fix of each error code. */
const ERROR_REFERENCE = 'docs/reference/errors.md';

export type Handler = (context: RequestContext) => ServiceResponse | Promise<ServiceResponse>;

/**
 * The steps of a request, for HTTP and gRPC:
 *
 * 1. `begin`: authentication (401, 403), then admission: a turn on the event loop, or 503
 * 2. `checkDeadline`: the deadline of the request, and 503 if the model's queue cannot meet it
 * 3. the transport reads the body
 * 4. `respond`: in another turn, runs the route's handler and sends its response
 * 5. `report`: log line, metrics and trace span
 */
export class RequestPipeline {
  readonly #server: ServerContext;
  readonly #keyRequired: string;
  readonly #probeRoutes: ReadonlySet<string>;

  /**
   * @param keyRequired error message for requests without an API key
   * @param probeRoutes paths that probes and scrapers request every few seconds: logged at debug level
   */
  constructor(server: ServerContext, keyRequired: string, probeRoutes: ReadonlySet<string>) {
    this.#server = server;
    this.#keyRequired = keyRequired;
    this.#probeRoutes = probeRoutes;
  }

  /**
   * Authenticates the request, then waits for its turn on the event loop. Rejected requests are answered after all
   * accepted work.
   *
   * @param next reads the body; what it throws becomes the response
   */
  begin(context: RequestContext, next: () => void): void {
    const { scheduler, config } = this.#server;
    const unauthorized = authenticate(this.#server, context, this.#keyRequired);
    if (unauthorized) {
      scheduler.reject(() => context.reject(unauthorized));
      return;
    }
    const proceed = () => runUnlessEnded(context, next);
    context.onAuthorized();
    if (!context.isQueued) {
      proceed();
      return;
    }
    const { waitMs } = scheduler;
    const { maxQueueWaitMs } = config.scheduling;
    if (waitMs > maxQueueWaitMs) {
      const error = waitTooLong(waitMs, maxQueueWaitMs);
      scheduler.reject(() => context.reject(error));
    } else if (context.isPipelined) scheduler.beginPipelined(proceed);
    else scheduler.begin(proceed);
  }

  /**
   * Sets the deadline of the request. Rejects the request before its body is read if its model would reject it.
   *
   * @throws ServiceError REQUEST_INVALID, DRAINING; EngineError of the model's queue
   */
  checkDeadline(context: RequestContext, refusal: ModelRoute['admissionError']): void {
    const { requestTimeoutMs } = this.#server.config;
    context.isUnread = true; // until it passes these checks
    context.timeoutMs = Math.min(context.clientTimeoutMs(), requestTimeoutMs);
    if (context.arrivedWhileDraining) {
      throw new ServiceError('DRAINING', 'The service is shutting down.');
    }
    const error = refusal?.(context.remainingMs, context.parameters);
    if (error) throw error;
    context.isUnread = false;
  }

  /** Runs the handler, which parses the body, and sends its response, in another turn of the event loop. */
  respond(context: RequestContext, handler: Handler): void {
    const run = () => {
      this.#respond(context, handler).catch((error) => {
        if (!context.isOver) context.fail(error);
      });
    };
    if (context.isQueued) this.#server.scheduler.proceed(run);
    else run();
  }

  async #respond(context: RequestContext, handler: Handler): Promise<void> {
    if (context.isOver || context.error) return;
    const response = await handler(context);
    if (response.inferences) context.recordInferences(response.inferences);
    const serialized = context.serialize(response);
    const sent = serialized instanceof Promise ? await serialized : serialized;
    if (!context.isOver && !context.error) context.send(sent);
  }

  /** Reports a request that has ended: the response was sent, or the client disconnected. */
  report(context: RequestContext, outcome: Outcome): void {
    try {
      report(this.#server, context, outcome, this.#probeRoutes.has(outcome.route ?? ''));
    } catch (error) {
      this.logUnexpected(error, 'request report failed');
    }
  }

  /** Logs an error that no response can report. */
  logUnexpected(error: unknown, message = 'request failed'): void {
    this.#server.logger.error({ error: describeUnexpected(error) }, message);
  }
}

function runUnlessEnded(context: RequestContext, next: () => void): void {
  if (context.isOver || context.error) return;
  try {
    next();
  } catch (error) {
    context.fail(error);
  }
}

function waitTooLong(waitMs: number, limitMs: number): EngineError {
  const wait = `The wait for the service would be about ${Math.ceil(waitMs)} ms,`;
  return new EngineError('WAIT_TOO_LONG', `${wait} over the limit of ${limitMs} ms.`, { waitMs });
}

/**
 * Authenticates a request: checks its API key and the scope of the key, and sets `context.access`. Runs before routing:
 * without a valid key a client does not learn which paths, methods or models exist, and costs one hash.
 *
 * @param keyRequired error message for requests without a key
 * @returns KEY_NEEDED (401), FORBIDDEN (403), or null if the request is authorized
 */
function authenticate(
  { credentials: { keys }, namesOf }: ServerContext,
  context: RequestContext,
  keyRequired: string,
): ServiceError | null {
  if (keys === null || context.isPublic) return null;
  const key = context.apiKey();
  if (key === null) return new ServiceError('KEY_NEEDED', keyRequired);
  const grant = keys.find(key);
  if (grant === null) return new ServiceError('KEY_NEEDED', 'The API key is not known.');
  if (isUnlimited(grant)) return null;
  context.access = new Access(grant, namesOf);
  return context.resource && context.access.errorFor(context.resource);
}

/**
 * Writes the log line of a finished request, counts it in the metrics and records its trace span. None of them contains
 * a text, a signal, a patient_id or another value that the client sent.
 *
 * @param isProbe the route is requested every few seconds by probes and scrapers
 */
function report(
  { logger, metrics, tracer, rejectionLog }: ServerContext,
  context: RequestContext,
  outcome: Outcome,
  isProbe: boolean,
): void {
  const { method, route, isRouteRemoved, status } = outcome;
  const durationMs = performance.now() - context.startedAt;
  // A probe that reports 503 is not a rejection.
  const rejection = isProbe && method !== 'POST' ? null : rejectionOf(context.error);
  metrics.requests.ended({ route, isRouteRemoved, status, durationMs, rejection });
  const unread = isKeyNeeded(context.error) ? 'no_key' : context.isUnread && rejection;
  if (unread) rejectionLog.count(unread);
  const level = unread ? 'debug' : levelOf(status, isProbe, context.error);
  const isTraced = tracer !== null && !unread && !isProbe;
  if (!isTraced && !logger.isLevelEnabled(level)) return;

  const traceparent = context.header('traceparent');
  const parent = traceparent === undefined ? null : parseTraceparent(traceparent);
  const span = isTraced ? tracer.record(context, outcome, { durationMs, parent }) : parent;
  logger[level](describe(context, outcome, { durationMs, span }), 'request');
}

function isKeyNeeded(error: Error | null): boolean {
  return error instanceof ServiceError && error.code === 'KEY_NEEDED';
}

/** Reason of a rejection that the client can retry; null: other errors. */
function rejectionOf(error: Error | null): RejectionReason | null {
  const isServiceError = error instanceof EngineError || error instanceof ServiceError;
  return (isServiceError && ERRORS[error.code as ErrorCode]?.rejection) || null;
}

interface Details {
  readonly durationMs: number;
  /** Span of this request, or of its caller if tracing is off. */
  readonly span: Pick<TraceContext, 'traceId' | 'spanId'> | null;
}

function describe(
  { requestId, model, timings, error }: RequestContext,
  { method, route, status }: Outcome,
  { durationMs, span }: Details,
): object {
  return {
    requestId,
    ...(span && { traceId: span.traceId, spanId: span.spanId }),
    method,
    route,
    ...(model && { model: model.name, ...(model.version !== null && { version: model.version }) }),
    status,
    durationMs: roundMs(durationMs),
    ...(timings && {
      queueMs: roundMs(timings.queueMs),
      tokenizationMs: roundMs(timings.tokenizationMs),
      inferenceMs: roundMs(timings.inferenceMs),
      batchSize: timings.batchSize,
      tokens: timings.tokens,
      truncated: timings.truncated,
    }),
    ...(error && describeError(error, status)),
  };
}

/** Message of an error that is written for clients; other messages may quote input, and are left out. */
function describeError(error: Error, status: number): object {
  const code = codeOf(error);
  const reference = { errorCode: code, errorHelp: `${ERROR_REFERENCE}#${code.toLowerCase()}` };
  if (!isUnexpected(error)) return { ...reference, ...(status >= 500 && { error: error.message }) };
  const { type, at } = describeUnexpected(causeOf(error));
  return { ...reference, error: type, at };
}

function codeOf(error: Error): string {
  const cause = causeOf(error);
  const isKnown = cause instanceof ServiceError || cause instanceof EngineError;
  return isKnown && Object.hasOwn(ERRORS, cause.code) ? cause.code : 'INTERNAL';
}

function isUnexpected(error: Error | null): boolean {
  return error !== null && !(causeOf(error) instanceof ExpectedError);
}

function causeOf(error: Error): Error {
  return error instanceof ElementError ? error.cause : error;
}

function levelOf(
  status: number,
  isProbe: boolean,
  error: Error | null,
): 'debug' | 'info' | 'warn' | 'error' {
  // Some protocols send other statuses for an unexpected error.
  if (status === 500 || isUnexpected(error)) return 'error';
  if (isProbe) return 'debug';
  return status > 500 ? 'warn' : 'info';
}
