import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import { DETAIL } from '../../protocols/error-shape';
import { ServiceError, STATUS } from '../../serving/errors';
import type { InFlight } from '../../serving/in-flight';
import type { EndedRequest } from '../../serving/metrics/request-metrics';
import { type Reported, refusalOf, report, type Watchers } from '../../serving/report';
import { contextOf, type RequestContext } from '../request-context';

const MOST_HEADERS = 100;

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Called with each request as it comes: names it, counts it as in flight, and reports it when it is
 * over. `shared`: what the context of each has of the service.
 */
export function trackRequest(
  inFlight: InFlight,
  watchers: Watchers,
  shared: Pick<RequestContext, 'readiness' | 'unsentAnswers'>,
): (request: Request, response: Response) => void {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!inFlight.end(this)) return;
    const context = contextOf(this);
    context.isOver = true;
    if (!this.writableFinished) context.cancellation?.abort();
    report(watchers, reportedOf(this, context, watchers));
  }

  return (request: Request, response: Response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
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
      readiness: shared.readiness,
      unsentAnswers: shared.unsentAnswers,
    };
    response.locals = context as unknown as Response['locals'];
    response.setHeader('X-Request-Id', requestId);
    response.on('close', onClose);
    inFlight.begin(response);
    context.pipelined = inFlight.countOn(request.socket);
  };
}

/** The one that was sent, where it is sane; else a new one. */
export function requestIdOf(given: unknown): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
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

function reportedOf(response: Response, context: RequestContext, watchers: Watchers): Reported {
  const { headers, method, httpVersion } = response.req;
  return {
    ended: endOf(response, context, watchers),
    context,
    method,
    httpVersion,
    traceparent: headers.traceparent?.toString(),
    tracestate: headers.tracestate?.toString(),
    answered: response.writableFinished,
  };
}

function endOf(
  response: Response,
  context: RequestContext,
  { machineRoutes }: Watchers,
): EndedRequest {
  const route: string | null = response.req.route?.path ?? context.route;
  return {
    route,
    status: response.writableFinished ? response.statusCode : STATUS.CANCELLED,
    durationMs: performance.now() - context.startedAt,
    refusal: machineRoutes.has(route ?? '') ? null : refusalOf(context.error),
  };
}
