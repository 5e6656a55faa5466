import type { Request, RequestHandler, Response } from 'express';
import { endWith } from '../send-json';

/** GET /openapi.json. The document is made when it is first asked for. */
export function openapi(describe: () => object): RequestHandler {
  let document: Buffer | undefined;
  return (_request: Request, response: Response) => {
    document ??= Buffer.from(JSON.stringify(describe()));
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', document.length);
    endWith(response, document);
  };
}
