import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ServiceError } from '../../errors';
import { EngineError } from '../../native/engine';
import { contextOf } from '../request-context';
import type { Turns } from '../turns';

const TIMEOUT_HEADER = 'x-request-timeout-ms';

/** What of a service decides whether a request is let in. */
export interface AdmissionRules {
  /** The longest deadline, and that of requests that name none. */
  readonly requestTimeoutMs: number;
  readonly maxQueueWaitMs: number;
  /** Why the engine would refuse what came now, with so much time left; null: it would not. */
  readonly refusal: (timeoutMs: number) => EngineError | null;
}

/**
 * Refuses what the queue would refuse anyway, before a byte of the body is read: under overload most
 * requests end here, and must cost next to nothing. Node throws away the body.
 */
export function admit(rules: AdmissionRules, turns: Turns): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const context = contextOf(response);
    context.timeoutMs = timeoutOf(request.headers[TIMEOUT_HEADER], rules.requestTimeoutMs);
    if (context.refused) throw new ServiceError('DRAINING', 'The service is shutting down.');
    const waitMs = turns.waitMs;
    if (waitMs > rules.maxQueueWaitMs) {
      const wait = `The wait for the service would be about ${Math.ceil(waitMs)} ms,`;
      const message = `${wait} over the limit of ${rules.maxQueueWaitMs} ms.`;
      throw new EngineError('WAIT_TOO_LONG', message, { waitMs });
    }
    const refusal = rules.refusal(context.timeoutMs);
    if (refusal) throw refusal;
    next();
  };
}

/** In ms, from the arrival of the request. */
function timeoutOf(header: string | string[] | undefined, longest: number): number {
  if (header === undefined) return longest;
  if (typeof header !== 'string' || !/^[1-9]\d{0,14}$/.test(header)) {
    throw new ServiceError(
      'REQUEST_INVALID',
      'X-Request-Timeout-Ms: expected a whole number of milliseconds, at least 1.',
    );
  }
  return Math.min(Number(header), longest);
}
