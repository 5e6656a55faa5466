import { EngineError } from '../native/engine';
import { ServiceError } from './errors';
import type { Stage } from './request-context';
import type { ServerContext } from './server-context';

/**
 * Work waits for its turn; where that would take too long it is refused, in the order in which it came.
 * What only looks goes on at once.
 */
export function admit({ scheduler, config }: ServerContext): Stage {
  const { maxQueueWaitMs } = config.scheduling;
  return (exchange, next) => {
    const { isQueued, modelRoute } = exchange;
    const { waitMs } = scheduler;
    if (!isQueued) next(exchange);
    else if (waitMs > maxQueueWaitMs) {
      const refusal = waitTooLong(waitMs, maxQueueWaitMs);
      scheduler.refuse(() => exchange.refuse(refusal, modelRoute?.path ?? null));
    } else if (exchange.isPipelined) scheduler.beginPipelined(() => next(exchange));
    else scheduler.begin(() => next(exchange));
  };
}

/** Work that its engine would refuse with the time that is left is refused before it is read. */
export function keepDeadline({ config }: ServerContext): Stage {
  const { requestTimeoutMs } = config;
  return (exchange, next) => {
    const { modelRoute } = exchange;
    if (modelRoute) {
      exchange.route = modelRoute.path; // until it is known that it is not refused
      exchange.timeoutMs = Math.min(exchange.clientTimeoutMs(), requestTimeoutMs);
      if (exchange.arrivedWhileDraining)
        throw new ServiceError('DRAINING', 'The service is shutting down.');
      const refusal = modelRoute.refusal?.(exchange.remainingMs, exchange.parameters);
      if (refusal) throw refusal;
      exchange.route = null;
    }
    next(exchange);
  };
}

function waitTooLong(waitMs: number, limitMs: number): EngineError {
  const wait = `The wait for the service would be about ${Math.ceil(waitMs)} ms,`;
  return new EngineError('WAIT_TOO_LONG', `${wait} over the limit of ${limitMs} ms.`, { waitMs });
}
