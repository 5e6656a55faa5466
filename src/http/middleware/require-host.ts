import type { NextFunction, Request, Response } from 'express';
import { ServiceError } from '../../errors';

/** HTTP/1.1 wants a Host header (RFC 9112, 3.2). */
export function requireHost(request: Request, _response: Response, next: NextFunction): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new ServiceError('REQUEST_INVALID', 'The Host header is missing.');
  }
  next();
}
