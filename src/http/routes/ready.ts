import type { Request, RequestHandler, Response } from 'express';
import { ServiceError } from '../../errors';
import type { InFlight } from '../in-flight';
import { sendJson } from '../send-json';
import type { ServiceInfo } from './info';

/**
 * GET /ready: whether requests should be sent here. A model that is loaded is warm: the engine has
 * run it before the port was opened. `describeProblem`: what is wrong with it since, or null.
 */
export function ready(
  { loaded, reason }: ServiceInfo['model'],
  inFlight: Pick<InFlight, 'isLeaving'>,
  describeProblem: () => string | null,
): RequestHandler {
  return (_request: Request, response: Response) => {
    if (inFlight.isLeaving) throw new ServiceError('DRAINING', 'The service is shutting down.');
    if (!loaded) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const problem = describeProblem();
    if (problem !== null) throw new ServiceError('NOT_READY', problem);
    sendJson(response, 200, { ready: true });
  };
}
