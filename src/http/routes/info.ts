import type { Request, RequestHandler, Response } from 'express';
import type { EegInfo, SentimentInfo } from '../schemas/answers';
import { sendJson } from '../send-json';

/** The answer of GET /info. */
export type ServiceInfo = SentimentInfo | EegInfo;

/** GET /info: what is served, and within which limits. None of it changes while the process runs. */
export function info(answer: ServiceInfo): RequestHandler {
  return (_request: Request, response: Response) => {
    sendJson(response, 200, answer);
  };
}
