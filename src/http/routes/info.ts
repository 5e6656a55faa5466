import type { Request, RequestHandler, Response } from 'express';
import type { EegInfo, SentimentInfo } from '../../protocols/own/schemas/answers';
import type { Protocol } from '../../protocols/protocol';
import { sendJson } from '../send-json';

/** The answer of GET /info. */
export type ServiceInfo = SentimentInfo | EegInfo;

/**
 * GET /info: what is served, and within which limits. None of it changes while the process runs.
 *
 * @param protocols may have fields of their own there, beside those of the service
 */
export function info(own: ServiceInfo, protocols: readonly Protocol[]): RequestHandler {
  const answer = Object.assign({}, own, ...protocols.map((protocol) => protocol.info?.fields), own);
  return (_request: Request, response: Response) => {
    sendJson(response, 200, answer);
  };
}
