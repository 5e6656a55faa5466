import type { Response } from 'express';
import type { Connections, PendingResponses } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import { MAX_STALLED_CHECKS, STALL_CHECK_MS } from '../serving/timeouts';
import { requestContextOf } from './http-request-context';

interface Progress {
  /** Bytes received on the connection. */
  readonly bytesRead: number;
  /** Consecutive checks without new bytes. */
  readonly stalledChecks: number;
}

/**
 * During shutdown, aborts requests whose body makes no progress, so that one client cannot delay the end. At the timeout
 * it aborts all that wait for their clients.
 *
 * @returns timer for `clearInterval`
 */
export function abortStalledRequests(
  pending: PendingResponses<Response>,
  connections: Connections,
  timeoutMs: number,
): NodeJS.Timeout {
  const until = performance.now() + timeoutMs;
  const progress = new WeakMap<Response, Progress>();

  function isStalled(response: Response): boolean {
    const { req } = response;
    // Uploads are read by their route, without flowing mode.
    const isRead = req.readableFlowing || req.listenerCount('readable') > 0;
    if (!isRead) return false;
    const { bytesRead } = req.socket;
    const last = progress.get(response);
    const stalledChecks = last?.bytesRead === bytesRead ? last.stalledChecks + 1 : 0;
    progress.set(response, { bytesRead, stalledChecks });
    return stalledChecks >= MAX_STALLED_CHECKS;
  }

  const check = (): void => {
    const isTimeUp = performance.now() >= until;
    for (const response of pending.next) {
      const isIncomplete = !response.req.complete && !response.headersSent;
      if (isIncomplete && (isStalled(response) || isTimeUp)) {
        requestContextOf(response).fail(
          new ServiceError('DRAINING', 'The service is shutting down.'),
        );
      } else if (isTimeUp && response.headersSent) {
        connections.abort(response.req.socket, 'response_stalled');
      }
    }
  };
  return setInterval(check, STALL_CHECK_MS).unref();
}
