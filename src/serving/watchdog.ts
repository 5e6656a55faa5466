import type { Logger } from 'pino';
import type { EngineMonitor } from '../native/engine';
import type { Config } from '../settings/config';

/** Interval of checks for a hung model, in ms. */
const CHECK_INTERVAL_MS = 100;

/** Describes a hung model for readiness and the log; null: no batch is stuck, or no model. */
export function describeHang(engine: EngineMonitor | null): string | null {
  const stuckMs = engine?.stuckMs ?? 0;
  if (stuckMs === 0) return null;
  return `The model is stuck in a batch for ${Math.round(stuckMs)} ms.`;
}

/**
 * Watches a model for a batch that exceeds INFERENCE_TIMEOUT_MS. A thread cannot be stopped: the service is not ready
 * meanwhile, and after INFERENCE_GRACE_MS only a new process helps.
 *
 * @param engine null: no model
 * @param onAbandon called once, after the grace period
 */
export function watchForHang(
  engine: EngineMonitor | null,
  logger: Logger,
  { inferenceGraceMs, scheduling: { inferenceTimeoutMs } }: Config,
  onAbandon: (problem: string) => void,
): void {
  if (!engine) return;
  let isReported = false;
  const check = (): void => {
    const { stuckMs } = engine;
    const problem = describeHang(engine);
    // A loop that the timeout has stopped ends soon: it is not reported.
    if (problem === null || stuckMs < inferenceTimeoutMs + CHECK_INTERVAL_MS) {
      if (isReported) logger.info('hung model recovered');
      isReported = false;
    } else if (stuckMs > inferenceTimeoutMs + inferenceGraceMs) {
      clearInterval(timer);
      onAbandon(problem);
    } else if (!isReported) {
      isReported = true;
      logger.error(
        { stuckMs: Math.round(stuckMs), inferenceTimeoutMs, inferenceGraceMs },
        'hung model: requests of the batch got 504, the process exits after the grace period',
      );
    }
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
}
