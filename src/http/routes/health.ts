import type { Request, RequestHandler, Response } from 'express';
import { sendJson } from '../send-json';

/** GET /health. It waits for nothing, so it answers while the process responds at all. */
export function health(modelLoaded: boolean): RequestHandler {
  const answer = { status: 'healthy', model_loaded: modelLoaded };
  return (_request: Request, response: Response) => {
    sendJson(response, 200, answer);
  };
}
