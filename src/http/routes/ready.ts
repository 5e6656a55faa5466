import type { Request, RequestHandler, Response } from 'express';
import { ServiceError } from '../../errors';
import type { InFlight } from '../in-flight';
import { sendJson } from '../send-json';
import type { ServiceInfo } from './info';

/**
 * GET /ready: whether requests should be sent here. A model that is loaded is warm: the engine has
 * run it before the port was opened.
 */
export function ready(
  { loaded, reason }: ServiceInfo['model'],
  inFlight: Pick<InFlight, 'isLeaving'>,
): RequestHandler {
  return (_request: Request, response: Response) => {
    if (inFlight.isLeaving) throw new ServiceError('DRAINING', 'The service is shutting down.');
    if (!loaded) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    sendJson(response, 200, { ready: true });
  };
}
