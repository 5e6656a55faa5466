import type { Request, RequestHandler, Response } from 'express';
import { describeApi } from '../openapi/document';
import { sendJson } from '../send-json';
import type { ServiceInfo } from './info';

/** GET /openapi.json. The document is made when it is first asked for. */
export function openapi(info: ServiceInfo): RequestHandler {
  let document: object | undefined;
  return (_request: Request, response: Response) => {
    document ??= describeApi(info);
    sendJson(response, 200, document);
  };
}
