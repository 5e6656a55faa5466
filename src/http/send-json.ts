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
  response.end(text);
  contextOf(response).unsentAnswers.written(response);
}
