import { EngineError } from '../native/engine';
import type { Context } from './context';
import { ServiceError } from './errors';
import type { Stage } from './exchange';

/**
 * Work waits for its turn; where that would take too long it is refused, in the order in which it came.
 * What only looks goes on at once.
 */
export function admit({ scheduler, config }: Context): Stage {
  const { maxQueueWaitMs } = config.scheduling;
  return (exchange, next) => {
    const { isWork, target } = exchange;
    const { waitMs } = scheduler;
    if (!isWork) next(exchange);
    else if (waitMs > maxQueueWaitMs) {
      const refusal = waitTooLong(waitMs, maxQueueWaitMs);
      scheduler.refuse(() => exchange.refuse(refusal, target?.path ?? null));
    } else if (exchange.isPipelined) scheduler.beginPipelined(() => next(exchange));
    else scheduler.begin(() => next(exchange));
  };
}

/** Work that its engine would refuse with the time that is left is refused before it is read. */
export function keepDeadline({ config }: Context): Stage {
  const { requestTimeoutMs } = config;
  return (exchange, next) => {
    const { target } = exchange;
    if (target) {
      exchange.route = target.path; // until it is known that it is not refused
      exchange.timeoutMs = Math.min(exchange.askedTimeoutMs(), requestTimeoutMs);
      if (exchange.isLate) throw new ServiceError('DRAINING', 'The service is shutting down.');
      const refusal = target.refusal(exchange.remainingMs, exchange.parameters);
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
