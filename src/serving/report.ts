import { EngineError } from '../native/engine';
import { ExpectedError } from '../native/engine-error';
import { describeUnexpected } from '../native/unexpected-error';
import { ElementError, ERRORS, type ErrorCode, type RejectionReason, ServiceError } from './errors';
import type { Outcome, RequestContext } from './request-context';
import { roundMs } from './request-context';
import type { ServerContext } from './server-context';
import { parseTraceparent, type TraceContext } from './tracing/trace-context';

/**
 * Writes the log line of a finished request, counts it in the metrics and records its trace span. None of them contains
 * a text, a signal, a patient_id or another value that the client sent.
 *
 * @param isProbe the route is requested every few seconds by probes and scrapers
 */
export function report(
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
  if (!isUnexpected(error)) return status >= 500 ? { error: error.message } : {};
  const { type, at } = describeUnexpected(causeOf(error));
  return { error: type, at };
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
