import type { Request, RequestHandler, Response } from 'express';
import { sendJson } from '../send-json';

/** GET /openapi.json. The document is made when it is first asked for. */
export function openapi(describe: () => object): RequestHandler {
  let document: object | undefined;
  return (_request: Request, response: Response) => {
    document ??= describe();
    sendJson(response, 200, document);
  };
}
