import type { Response } from 'express';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import { LOOK_MS, STILL_LOOKS } from '../serving/timeouts';
import { requestContextOf } from './http-request-context';
import type { PendingResponses } from './pending-responses';

interface Seen {
  /** Of its connection. */
  readonly bytesRead: number;
  /** In which nothing came. */
  readonly looks: number;
}

/**
 * What a server that drains waits for: a body that stands still is given up, so that one client cannot
 * hold up the end, and when the time is over whatever waits for its client.
 *
 * @returns what looks after them, for `clearInterval`
 */
export function abortStalledRequests(
  due: PendingResponses,
  connections: Connections,
  patienceMs: number,
): NodeJS.Timeout {
  const until = performance.now() + patienceMs;
  const seen = new WeakMap<Response, Seen>();

  function standsStill(response: Response): boolean {
    const { req } = response;
    if (!req.readableFlowing) return false; // it is the service that does not read
    const { bytesRead } = req.socket;
    const last = seen.get(response);
    const looks = last?.bytesRead === bytesRead ? last.looks + 1 : 0;
    seen.set(response, { bytesRead, looks });
    return looks >= STILL_LOOKS;
  }

  const look = (): void => {
    const isTimeUp = performance.now() >= until;
    for (const response of due.next) {
      const isIncomplete = !response.req.complete && !response.headersSent;
      if (isIncomplete && (standsStill(response) || isTimeUp)) {
        requestContextOf(response).fail(
          new ServiceError('DRAINING', 'The service is shutting down.'),
        );
      } else if (isTimeUp && response.writableEnded) {
        connections.abort(response.req.socket, 'response_stalled');
      }
    }
  };
  return setInterval(look, LOOK_MS).unref();
}
