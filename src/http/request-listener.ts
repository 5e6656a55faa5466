import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { ServiceError } from '../serving/errors';
import type { Pipeline } from '../serving/request-pipeline';
import type { Cors } from './cors';
import { HttpRequestContext, type HttpShared, requestContextOf } from './http-request-context';
import type { OriginPolicy } from './origins';
import { originForm } from './request-target';

const MOST_HEADERS = 100;

/** Of a request that has ended without an answer: nginx's code for it. */
const CLIENT_GONE = 499;

/** @param isBodyHeld the client sends its body when it is told to (`Expect: 100-continue`) */
export type Listener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isBodyHeld?: boolean,
) => void;

/**
 * Where every request comes in. The pipeline refuses it, or hands it to Express: under overload most
 * requests end here, and must cost next to nothing (docs/decisions/005, measured with bench/overload.mjs).
 *
 * @param cors null: no page of another origin may ask
 */
export function listenBeforeExpress(
  shared: HttpShared,
  pipeline: Pipeline,
  cors: Cors | null,
): Listener {
  // One function for all requests; `this` is the response.
  function onClose(this: Response): void {
    if (!shared.due.end(this)) return;
    try {
      end(this);
    } catch (error) {
      pipeline.failedToReport(error);
    }
  }

  function end(response: Response): void {
    const exchange = requestContextOf(response);
    const { writableFinished: answered, req } = response;
    exchange.isOver = true;
    if (!answered) exchange.cancel();
    const route = req.route?.path ?? exchange.route;
    pipeline.ended(exchange, {
      method: req.method,
      httpVersion: req.httpVersion,
      route,
      isRouteRemoved: route !== null && shared.routes.isRemoved(route),
      status: answered ? response.statusCode : CLIENT_GONE,
      isAnswered: answered,
    });
  }

  return (incoming, outgoing, isBodyHeld = false) => {
    // They have the prototypes of Express from birth; see `prototypesOf`.
    const [request, response] = [incoming as Request, outgoing as Response];
    request.url = originForm(request.url);
    // Of what follows such a request Node throws away the bytes that it has read already, and takes the
    // next ones, in the middle of a body as it may be, for a request. So nothing may follow.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const exchange = new HttpRequestContext(request, response, shared);
    exchange.isBodyHeld = isBodyHeld;
    response.locals = exchange as unknown as Response['locals'];
    response.setHeader('X-Request-Id', exchange.requestId);
    response.on('close', onClose);
    exchange.pipelined = shared.due.begin(response);
    if (!cors?.answers(request, response)) pipeline.begin(exchange);
  };
}

/**
 * Classes whose instances have the prototypes that Express wants from birth. Otherwise it changes
 * the prototype of every request and response (express, lib/application.js, `app.handle`), and V8
 * cannot cache property accesses on such objects: that cost a fifth of the event loop's time.
 *
 * @param takesUpgrade whether a request that asks for an upgrade gets one
 */
export function prototypesOf(
  app: Express,
  takesUpgrade: (request: http.IncomingMessage) => boolean,
): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class IncomingMessage extends http.IncomingMessage {}
  class ServerResponse<
    Request extends http.IncomingMessage = http.IncomingMessage,
  > extends http.ServerResponse<Request> {}
  const prototypes = app as unknown as { request: object; response: object };
  Object.setPrototypeOf(IncomingMessage.prototype, prototypes.request);
  Object.setPrototypeOf(ServerResponse.prototype, prototypes.response);
  prototypes.request = IncomingMessage.prototype;
  prototypes.response = ServerResponse.prototype;
  leaveUpgrades(IncomingMessage.prototype, takesUpgrade);
  return { IncomingMessage, ServerResponse };
}

/**
 * Where a server has a listener of 'upgrade', Node hands it every request that asks for one, be it for HTTP/2 on
 * any path, its body unread. This server takes some of them; the others it answers as if they had not asked, as it
 * may (RFC 9110, 7.8), and as Node does without a listener. Node looks at `upgrade` of the request, which it has
 * set, when all headers are there (`parserOnIncoming` of lib/_http_server.js).
 */
function leaveUpgrades(
  prototype: http.IncomingMessage,
  takesUpgrade: (request: http.IncomingMessage) => boolean,
): void {
  const isAsked = Symbol('upgrade');
  interface Asking extends http.IncomingMessage {
    [isAsked]?: unknown;
  }
  Object.defineProperty(prototype, 'upgrade', {
    get(this: Asking): boolean {
      return Boolean(this[isAsked]) && takesUpgrade(this);
    },
    set(this: Asking, value: unknown): void {
      this[isAsked] = value;
    },
  });
}

/**
 * HTTP/1.1 wants one Host header (RFC 9112, 3.2); Node's own check answers without a body, and takes the first of
 * several. And more headers than some hundred are refused: of more than 2,000 Node would by itself leave out the last.
 */
export function headersProblem(request: IncomingMessage): ServiceError | null {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MOST_HEADERS) {
    return new ServiceError('HEADERS_TOO_MANY', `There are over ${MOST_HEADERS} headers.`);
  }
  const hosts = countHosts(rawHeaders);
  if (hosts > 1) {
    const message = `Host: expected one such header, received ${hosts}. Send one.`;
    return new ServiceError('REQUEST_INVALID', message);
  }
  if (hosts === 0 && request.httpVersion === '1.1') {
    return new ServiceError('REQUEST_INVALID', 'The Host header is missing.');
  }
  return null;
}

/** @param rawHeaders names and values by turns */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/** First of all middleware: rejects what no route is to see. */
export function checkHeaders(origins: OriginPolicy): RequestHandler {
  return (request, _response, next) => {
    const problem = headersProblem(request) ?? origins.problemOf(request);
    if (problem) throw problem;
    next();
  };
}
