import { EngineError } from '../native/engine';
import type { Context } from './context';
import { ERRORS, type ErrorCode, type Refusal, ServiceError } from './errors';
import type { Exchange, Outcome } from './exchange';
import type { EndedRequest } from './metrics/request-metrics';
import type { UnreadRefusal } from './refusal-log';
import { roundMs } from './timings';
import { phasesOf } from './tracing/phases';
import { parseTraceparent, type TraceContext } from './tracing/trace-context';

/**
 * Last of a request's way: writes its one log line, which never holds a text, a signal, a patient or what
 * else the client wrote, and counts and traces it as the log line has it.
 *
 * @param isAskedByMachine its route is one that probes and scrapers ask every few seconds
 */
export function report(
  { logger, metrics, tracer, refusals }: Context,
  exchange: Exchange,
  outcome: Outcome,
  isAskedByMachine: boolean,
): void {
  const { method, route, status } = outcome;
  const ended = {
    ...{ route, status, durationMs: performance.now() - exchange.startedAt },
    // What is not ready says so; that is no refusal.
    refusal: isAskedByMachine && method !== 'POST' ? null : refusalOf(exchange.error),
  };
  metrics.requests.ended(ended);
  const unread = unreadRefusalOf(ended, exchange);
  if (unread) refusals.count(unread);
  const level = unread ? 'debug' : levelOf(status, isAskedByMachine);
  const isTraced = tracer !== null && !unread && !isAskedByMachine;
  if (!isTraced && !logger.isLevelEnabled(level)) return;

  const { inferences, timings, startedAt, submittedAt } = exchange;
  const parent = parseTraceparent(exchange.header('traceparent'));
  const span = isTraced
    ? tracer.record({
        ended, // not spread: V8 would take 30 µs for this object
        parent,
        tracestate: exchange.header('tracestate'),
        method,
        httpVersion: outcome.httpVersion,
        answered: outcome.answered,
        startedAt,
        phases: phasesOf(submittedAt, inferences),
        timings,
        inputs: inferences.length,
      })
    : parent;
  logger[level](describe(exchange, { ended, method, span }), 'request');
}

/** Why it was refused before it was read; null: it was not. */
function unreadRefusalOf(
  { refusal }: EndedRequest,
  { error, route }: Exchange,
): UnreadRefusal | null {
  if (error instanceof ServiceError && error.code === 'KEY_NEEDED') return 'no_key';
  return route === null ? null : refusal;
}

/** Why a request is refused for now; null: it is not. */
function refusalOf(error: Error | null): Refusal | null {
  const isOurs = error instanceof EngineError || error instanceof ServiceError;
  return (isOurs && ERRORS[error.code as ErrorCode]?.refusal) || null;
}

interface Details {
  readonly ended: EndedRequest;
  readonly method: string;
  /** The span of this request, or of its caller if none is exported. */
  readonly span: Pick<TraceContext, 'traceId' | 'spanId'> | null;
}

function describe(exchange: Exchange, { ended, method, span }: Details): object {
  const { requestId, timings, error } = exchange;
  const { route, status, durationMs } = ended;
  return {
    requestId,
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
    ...(status >= 500 && error && { error: error.message }),
  };
}

function levelOf(status: number, isAskedByMachine: boolean): 'debug' | 'info' | 'warn' | 'error' {
  if (status === 500) return 'error';
  if (isAskedByMachine) return 'debug';
  return status > 500 ? 'warn' : 'info';
}
