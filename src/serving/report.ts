import { EngineError } from '../native/engine';
import { ExpectedError } from '../native/engine-error';
import { describeUnexpected } from '../native/unexpected-error';
import { ElementError, ERRORS, type ErrorCode, type RejectionReason, ServiceError } from './errors';
import type { Outcome, RequestContext } from './request-context';
import type { ServerContext } from './server-context';
import { roundMs } from './timings';
import { parseTraceparent, type TraceContext } from './tracing/trace-context';

/**
 * Last of a request's way: writes its one log line, which never holds a text, a signal, a patient or what
 * else the client wrote, and counts and traces it as the log line has it.
 *
 * @param isAskedByMachine its route is one that probes and scrapers ask every few seconds
 */
export function report(
  { logger, metrics, tracer, refusals }: ServerContext,
  exchange: RequestContext,
  outcome: Outcome,
  isAskedByMachine: boolean,
): void {
  const { method, route, isRouteRemoved, status } = outcome;
  const durationMs = performance.now() - exchange.startedAt;
  // What is not ready says so; that is no refusal.
  const refusal = isAskedByMachine && method !== 'POST' ? null : refusalOf(exchange.error);
  metrics.requests.ended({ route, isRouteRemoved, status, durationMs, rejection: refusal });
  const unread = isKeyNeeded(exchange.error) ? 'no_key' : exchange.isUnread && refusal;
  if (unread) refusals.count(unread);
  const level = unread ? 'debug' : levelOf(status, isAskedByMachine, exchange.error);
  const isTraced = tracer !== null && !unread && !isAskedByMachine;
  if (!isTraced && !logger.isLevelEnabled(level)) return;

  const parent = parseTraceparent(exchange.header('traceparent'));
  const span = isTraced ? tracer.record(exchange, outcome, { durationMs, parent }) : parent;
  logger[level](describe(exchange, outcome, { durationMs, span }), 'request');
}

function isKeyNeeded(error: Error | null): boolean {
  return error instanceof ServiceError && error.code === 'KEY_NEEDED';
}

/** Why a request is refused for now; null: it is not. */
function refusalOf(error: Error | null): RejectionReason | null {
  const isOurs = error instanceof EngineError || error instanceof ServiceError;
  return (isOurs && ERRORS[error.code as ErrorCode]?.refusal) || null;
}

interface Details {
  readonly durationMs: number;
  /** The span of this request, or of its caller if none is exported. */
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

/** The message of a failure, if it was written for clients: any other may quote what the client has sent. */
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
  isAskedByMachine: boolean,
  error: Error | null,
): 'debug' | 'info' | 'warn' | 'error' {
  // Some protocols have other statuses for it.
  if (status === 500 || isUnexpected(error)) return 'error';
  if (isAskedByMachine) return 'debug';
  return status > 500 ? 'warn' : 'info';
}
