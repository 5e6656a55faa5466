import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { ServiceError, STATUS } from '../../errors';
import type { EndedRequest, Refusal, RequestMetrics } from '../../metrics/request-metrics';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import { EngineError } from '../../native/engine';
import type { InFlight } from '../in-flight';
import { contextOf, type RequestContext } from '../request-context';
import { roundMs, timingsOf } from '../timings';

/** What probes and scrapers ask every few seconds. */
const ASKED_BY_MACHINES: ReadonlySet<string> = new Set(['/health', '/metrics']);

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * First of all middleware: names the request, counts it as in flight, and when it is over writes
 * its one log line, which never holds a text, a signal, a patient or what else the client wrote, and
 * counts it as the log line has it.
 */
export function trackRequest(
  inFlight: InFlight,
  logger: Logger,
  metrics: RequestMetrics,
): RequestHandler {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!inFlight.end(this)) return;
    const context = contextOf(this);
    if (!this.writableFinished) context.cancellation?.abort();
    const ended = endOf(this, context);
    metrics.ended(ended);
    logRequest(logger, this, ended);
  }

  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.headers['x-request-id'];
    const requestId =
      typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const context: RequestContext = {
      requestId,
      startedAt: performance.now(),
      refused: inFlight.isDraining,
      cancellation: null,
      inferences: [],
      error: null,
    };
    response.locals = context as unknown as Response['locals'];
    response.setHeader('X-Request-Id', requestId);
    response.on('close', onClose);
    inFlight.begin(response);
    // HTTP/1.1 wants a Host header (RFC 9112, 3.2). Node's own check answers without a body.
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new ServiceError('REQUEST_INVALID', 'The Host header is missing.');
    }
    next();
  };
}

/** A signal that is aborted when the client goes before its answer is out. */
export function clientSignal(response: Response): CancelSignal {
  const context = contextOf(response);
  context.cancellation ??= new Cancellation();
  return context.cancellation;
}

function endOf(response: Response, context: RequestContext): EndedRequest {
  return {
    route: response.req.route?.path ?? null,
    status: response.writableFinished ? response.statusCode : STATUS.CANCELLED,
    durationMs: performance.now() - context.startedAt,
    refusal: refusalOf(context.error),
  };
}

function refusalOf(error: Error | null): Refusal | null {
  if (error instanceof EngineError || error instanceof ServiceError) {
    if (error.code === 'DRAINING') return 'draining';
    if (error.code === 'QUEUE_FULL') return 'queue_full';
  }
  return null;
}

function logRequest(logger: Logger, response: Response, ended: EndedRequest): void {
  const { route, status, durationMs } = ended;
  const level = levelOf(status, route);
  if (!logger.isLevelEnabled(level)) return;
  const context = contextOf(response);
  const timings = timingsOf(context.inferences);
  logger[level](
    {
      requestId: context.requestId,
      method: response.req.method,
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
    },
    'request',
  );
}

function levelOf(status: number, route: string | null): 'debug' | 'info' | 'warn' | 'error' {
  if (status === 500) return 'error';
  if (status > 500) return 'warn';
  return route !== null && ASKED_BY_MACHINES.has(route) ? 'debug' : 'info';
}
