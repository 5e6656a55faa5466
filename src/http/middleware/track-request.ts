import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { type ErrorCode, ServiceError, STATUS } from '../../errors';
import type { EndedRequest, Refusal, RequestMetrics } from '../../metrics/request-metrics';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import { EngineError } from '../../native/engine';
import { phasesOf } from '../../tracing/phases';
import { parseTraceparent, type TraceContext } from '../../tracing/trace-context';
import type { Tracer } from '../../tracing/tracer';
import { DETAIL } from '../error-shape';
import type { InFlight } from '../in-flight';
import type { Readiness } from '../readiness';
import type { RefusalLog, UnreadRefusal } from '../refusal-log';
import { contextOf, type RequestContext } from '../request-context';
import { roundMs, type Timings, timingsOf } from '../timings';
import type { UnsentAnswers } from '../unsent-answers';

/** What probes and scrapers ask every few seconds. */
const ASKED_BY_MACHINES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

const MOST_HEADERS = 100;

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** What is told of each request, and what its context has of the service. */
export interface Watchers {
  readonly logger: Logger;
  readonly refusals: RefusalLog;
  readonly metrics: RequestMetrics;
  /** Null: no spans are exported. */
  readonly tracer: Tracer | null;
  readonly readiness: Readiness;
  readonly unsentAnswers: UnsentAnswers;
}

/**
 * Called with each request as it comes: names it, counts it as in flight, and when it is over writes
 * its one log line, which never holds a text, a signal, a patient or what else the client wrote, and
 * counts and traces it as the log line has it.
 */
export function trackRequest(
  inFlight: InFlight,
  watchers: Watchers,
): (request: Request, response: Response) => void {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!inFlight.end(this)) return;
    const context = contextOf(this);
    context.isOver = true;
    if (!this.writableFinished) context.cancellation?.abort();
    report(watchers, this, context);
  }

  return (request: Request, response: Response) => {
    const given = request.headers['x-request-id'];
    const requestId =
      typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const context: RequestContext = {
      requestId,
      startedAt: performance.now(),
      refused: inFlight.isDraining,
      pipelined: 0,
      timeoutMs: 0,
      cancellation: null,
      submittedAt: 0,
      inferences: [],
      route: null,
      isOver: false,
      error: null,
      errors: DETAIL,
      readiness: watchers.readiness,
      unsentAnswers: watchers.unsentAnswers,
    };
    response.locals = context as unknown as Response['locals'];
    response.setHeader('X-Request-Id', requestId);
    response.on('close', onClose);
    inFlight.begin(response);
    context.pipelined = inFlight.countOn(request.socket);
  };
}

/**
 * HTTP/1.1 wants a Host header (RFC 9112, 3.2); Node's own check answers without a body. And more
 * headers than some hundred are refused: of more than 2,000 Node would by itself leave out the last.
 */
export function checkHeaders(request: Request, _response: Response, next: NextFunction): void {
  if (request.rawHeaders.length > 2 * MOST_HEADERS) {
    throw new ServiceError('HEADERS_TOO_MANY', `There are over ${MOST_HEADERS} headers.`);
  }
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new ServiceError('REQUEST_INVALID', 'The Host header is missing.');
  }
  next();
}

/** A signal that is aborted when the client goes before its answer is out. */
export function clientSignal(response: Response): CancelSignal {
  const context = contextOf(response);
  context.cancellation ??= new Cancellation();
  return context.cancellation;
}

function report(
  { logger, metrics, tracer, refusals }: Watchers,
  response: Response,
  context: RequestContext,
) {
  const ended = endOf(response, context);
  metrics.ended(ended);
  const unread = unreadRefusalOf(ended, context);
  const isUnread = unread !== null;
  if (unread) refusals.count(unread);
  const level = isUnread ? 'debug' : levelOf(ended);
  const isTraced = tracer !== null && !isUnread && !isAskedByMachines(ended.route);
  if (!isTraced && !logger.isLevelEnabled(level)) return;

  const { headers, method, httpVersion } = response.req;
  const { inferences, startedAt, submittedAt } = context;
  const parent = parseTraceparent(headers.traceparent);
  const timings = timingsOf(inferences);
  const span = isTraced
    ? tracer.record({
        ended, // not spread: V8 would take 30 µs for this object
        parent,
        tracestate: headers.tracestate?.toString(),
        method,
        httpVersion,
        answered: response.writableFinished,
        startedAt,
        phases: phasesOf(submittedAt, inferences),
        timings,
        inputs: inferences.length,
      })
    : parent;
  logger[level](describe(ended, { context, method, timings, span }), 'request');
}

function endOf(response: Response, context: RequestContext): EndedRequest {
  const route: string | null = response.req.route?.path ?? context.route;
  return {
    route,
    status: response.writableFinished ? response.statusCode : STATUS.CANCELLED,
    durationMs: performance.now() - context.startedAt,
    refusal: isAskedByMachines(route) ? null : refusalOf(context.error),
  };
}

/** Why the front door has refused it; null: it has not. */
function unreadRefusalOf(
  { refusal }: EndedRequest,
  { error, route }: RequestContext,
): UnreadRefusal | null {
  if (error instanceof ServiceError && error.code === 'KEY_NEEDED') return 'no_key';
  return route === null ? null : refusal;
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, Refusal>>> = {
  DRAINING: 'draining',
  QUEUE_FULL: 'queue_full',
  WAIT_TOO_LONG: 'queue_wait',
  DEADLINE_TOO_CLOSE: 'deadline',
  BODY_MEMORY_FULL: 'body_memory_full',
  PIPELINE_FULL: 'pipeline_full',
};

function refusalOf(error: Error | null): Refusal | null {
  const isOurs = error instanceof EngineError || error instanceof ServiceError;
  return (isOurs && REFUSALS[error.code as ErrorCode]) || null;
}

interface Details {
  readonly context: RequestContext;
  readonly method: string;
  readonly timings: Timings | null;
  /** The span of this request, or of its caller if none is exported. */
  readonly span: Pick<TraceContext, 'traceId' | 'spanId'> | null;
}

function describe({ route, status, durationMs }: EndedRequest, details: Details): object {
  const { context, method, timings, span } = details;
  return {
    requestId: context.requestId,
    ...(span && { traceId: span.traceId, spanId: span.spanId }),
    method,
    route,
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
    ...(status >= 500 && context.error && { error: context.error.message }),
  };
}

function levelOf({ route, status }: EndedRequest): 'debug' | 'info' | 'warn' | 'error' {
  if (status === 500) return 'error';
  if (isAskedByMachines(route)) return 'debug';
  return status > 500 ? 'warn' : 'info';
}

function isAskedByMachines(route: string | null): boolean {
  return route !== null && ASKED_BY_MACHINES.has(route);
}
