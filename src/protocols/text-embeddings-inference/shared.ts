import type { Inference } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import { timingsOf } from '../../serving/timings';

/** @throws ServiceError LIST_TOO_LONG, in this protocol's words */
export function requireBatchSize(list: readonly unknown[], limit: number): void {
  if (list.length <= limit) return;
  const message = `batch size ${list.length} > maximum allowed batch size ${limit}`;
  throw new ServiceError('LIST_TOO_LONG', message);
}

/** Headers of an answer. @param startedAt `performance.now()` at the request's arrival */
export function timeHeaders(startedAt: number, inferences: readonly Inference[]) {
  const total = performance.now() - startedAt;
  const queued = timingsOf(inferences)?.queueMs ?? 0;
  return {
    'X-Compute-Type': 'cpu',
    'X-Total-Time': Math.round(total),
    'X-Compute-Time': Math.max(0, Math.round(total - queued)),
  };
}
