import type { InferOptions } from '../native/engine';
import { errorOf } from '../native/engine-error';

/**
 * Options of the next run of a request that runs the model several times: with the time that is left of its timeout.
 *
 * @returns function that throws EngineError DEADLINE_EXCEEDED
 */
export function remainingOptions(options: InferOptions): () => InferOptions {
  const { timeoutMs } = options;
  if (!timeoutMs) return () => options;
  const deadline = performance.now() + timeoutMs;
  return () => {
    const left = deadline - performance.now();
    if (left > 0) return { ...options, timeoutMs: left };
    throw errorOf('DEADLINE_EXCEEDED');
  };
}
