import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { RequestPipeline } from '../serving/request-pipeline';
import type { Cors } from './cors';
import { HttpRequestContext, type HttpShared, requestContextOf } from './http-request-context';
import { originForm } from './request-head';

/** Status in log and metrics of a request whose client disconnected; nginx's code for it. */
const CLIENT_CLOSED_REQUEST = 499;

/** @param expectsContinue the client sends its body after `100 Continue` */
export type RequestListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  expectsContinue?: boolean,
) => void;

/**
 * Entry of every HTTP request: creates its context, then runs CORS, authentication and admission before Express. Under
 * overload most requests end here, so that a rejection costs next to nothing (docs/project/decisions/004, bench/overload.mjs).
 *
 * @param cors null: CORS_ORIGINS is not set
 */
export function createRequestListener(
  shared: HttpShared,
  pipeline: RequestPipeline,
  cors: Cors | null,
): RequestListener {
  /** Listener of 'close', one function for all responses: `this` is the response. */
  function onClose(this: Response): void {
    if (!shared.pending.end(this)) return;
    const context = requestContextOf(this);
    const { writableFinished: isAnswered, req } = this;
    context.isOver = true;
    if (!isAnswered) context.cancel();
    const route = context.routePath;
    pipeline.report(context, {
      method: req.method,
      httpVersion: req.httpVersion,
      route,
      isRouteRemoved: route !== null && shared.routes.isRemoved(route),
      status: isAnswered ? this.statusCode : CLIENT_CLOSED_REQUEST,
      isAnswered,
    });
  }

  return (incoming, outgoing, expectsContinue = false) => {
    // Their prototypes are Express's: see express-prototypes.ts.
    const [request, response] = [incoming as Request, outgoing as Response];
    request.url = originForm(request.url);
    // After an Upgrade header Node may drop buffered bytes, and parse the middle of a body as a request.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const context = new HttpRequestContext(request, response, shared, expectsContinue);
    response.locals = context as unknown as Response['locals'];
    response.setHeader('X-Request-Id', context.requestId);
    response.on('close', onClose);
    context.pipelined = shared.pending.begin(response);
    if (cors?.answers(request, response)) return;
    pipeline.begin(context, () => shared.app(request, response));
  };
}
