import type { Request, RequestHandler, Response } from 'express';
import { contextOf } from '../request-context';
import { sendJson } from '../send-json';

/** GET /ready: whether requests should be sent here. */
export const ready: RequestHandler = (_request: Request, response: Response) => {
  const problem = contextOf(response).readiness();
  if (problem) throw problem;
  sendJson(response, 200, { ready: true });
};
