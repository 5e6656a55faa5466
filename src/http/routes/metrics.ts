import type { Request, RequestHandler, Response } from 'express';
import type { Metrics } from '../../serving/metrics/metrics';
import { endWith } from '../send-json';

/** GET /metrics, in the text format of Prometheus. */
export function metrics({ contentType, expose }: Metrics): RequestHandler {
  return async (_request: Request, response: Response) => {
    const text = await expose();
    response.setHeader('Content-Type', contentType);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    endWith(response, text);
  };
}
