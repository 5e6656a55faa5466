import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { ServiceError, STATUS } from '../../errors';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import type { InFlight } from '../in-flight';
import { contextOf, type RequestContext } from '../request-context';
import { roundMs, timingsOf } from '../timings';

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * First of all middleware: names the request, counts it as in flight, and when it is over writes
 * its one log line, which never holds a text, a signal, a patient or what else the client wrote.
 */
export function trackRequest(inFlight: InFlight, logger: Logger): RequestHandler {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!inFlight.end(this)) return;
    const context = contextOf(this);
    if (!this.writableFinished) context.cancellation?.abort();
    logRequest(logger, this, context);
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

function logRequest(logger: Logger, response: Response, context: RequestContext): void {
  const status = response.writableFinished ? response.statusCode : STATUS.CANCELLED;
  // The path of the route that matched, never what the client wrote.
  const route: string | null = response.req.route?.path ?? null;
  const level = levelOf(status, route);
  if (!logger.isLevelEnabled(level)) return;
  const timings = timingsOf(context.inferences);
  logger[level](
    {
      requestId: context.requestId,
      method: response.req.method,
      route,
      status,
      durationMs: roundMs(performance.now() - context.startedAt),
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
  return route === '/health' ? 'debug' : 'info';
}
