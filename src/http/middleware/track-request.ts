import type { NextFunction, Request, Response } from 'express';
import { ServiceError, STATUS } from '../../serving/errors';
import type { InFlight } from '../../serving/in-flight';
import type { EndedRequest } from '../../serving/metrics/request-metrics';
import { type Reported, refusalOf, report, type Watchers } from '../../serving/report';
import { exchangeOf, HttpExchange, type Shared } from '../exchange';

const MOST_HEADERS = 100;

/**
 * Called with each request as it comes: names it, counts it as in flight, and reports it when it is
 * over. `shared`: what each has of the app.
 */
export function trackRequest(
  inFlight: InFlight,
  watchers: Watchers,
  shared: Shared,
): (request: Request, response: Response) => void {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!inFlight.end(this)) return;
    const exchange = exchangeOf(this);
    exchange.isOver = true;
    if (!this.writableFinished) exchange.cancel();
    report(watchers, reportedOf(this, exchange, watchers));
  }

  return (request: Request, response: Response) => {
    const exchange = new HttpExchange(request, shared, inFlight.isDraining);
    response.locals = exchange as unknown as Response['locals'];
    response.setHeader('X-Request-Id', exchange.requestId);
    response.on('close', onClose);
    inFlight.begin(response);
    exchange.pipelined = inFlight.countOn(request.socket);
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

function reportedOf(response: Response, exchange: HttpExchange, watchers: Watchers): Reported {
  const { headers, method, httpVersion } = response.req;
  return {
    ended: endOf(response, exchange, watchers),
    exchange,
    method,
    httpVersion,
    traceparent: headers.traceparent?.toString(),
    tracestate: headers.tracestate?.toString(),
    answered: response.writableFinished,
  };
}

function endOf(
  response: Response,
  exchange: HttpExchange,
  { machineRoutes }: Watchers,
): EndedRequest {
  const route: string | null = response.req.route?.path ?? exchange.route;
  return {
    route,
    status: response.writableFinished ? response.statusCode : STATUS.CANCELLED,
    durationMs: performance.now() - exchange.startedAt,
    refusal: machineRoutes.has(route ?? '') ? null : refusalOf(exchange.error),
  };
}
