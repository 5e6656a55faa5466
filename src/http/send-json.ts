import type { Response } from 'express';
import { contextOf } from './request-context';

/**
 * What `response.json` does for this server, without what it leaves unused (content negotiation,
 * ETag, JSONP settings): about a twentieth of the cost of a request.
 */
export function sendJson(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endWith(response, text);
}

/**
 * The end of every answer: what its client does not take is bounded, in bytes and in time. One whose
 * connection has closed goes nowhere: it has been closed, too, and would be counted for ever.
 */
export function endWith(response: Response, body: string | Buffer | undefined): void {
  const { isOver, unsentAnswers } = contextOf(response);
  if (isOver) return;
  response.end(body);
  unsentAnswers.written(response);
}
