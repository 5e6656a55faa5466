import type { Logger } from 'pino';
import type { EngineMonitor } from '../../native/engine';
import type { Config } from '../../settings/config';

/** How often a model that has not come back is looked at, in ms. */
const CHECK_INTERVAL_MS = 100;

/** Of a model that does not come back from a batch, for people; null: it is not so, or there is no model. */
export function describeHang(engine: EngineMonitor | null): string | null {
  const stuckMs = engine?.stuckMs ?? 0;
  if (stuckMs === 0) return null;
  return `The model has not come back from a batch for ${Math.round(stuckMs)} ms.`;
}

/**
 * Looks after a model that does not come back from a batch. No thread can be made to stop: the
 * service says that it is not ready, and when the time of grace is over as well, only a new process
 * helps.
 *
 * @param engine null: there is no model
 * @param onGivenUp called once, when the time of grace is over
 */
export function watchForHang(
  engine: EngineMonitor | null,
  logger: Logger,
  { inferenceGraceMs, scheduling: { inferenceTimeoutMs } }: Config,
  onGivenUp: (problem: string) => void,
): void {
  if (!engine) return;
  let isAnnounced = false;
  const look = (): void => {
    const { stuckMs } = engine;
    const problem = describeHang(engine);
    // A loop that was ended is back soon: nothing is said of it.
    if (problem === null || stuckMs < inferenceTimeoutMs + CHECK_INTERVAL_MS) {
      if (isAnnounced) logger.info('The model has come back.');
      isAnnounced = false;
    } else if (stuckMs > inferenceTimeoutMs + inferenceGraceMs) {
      clearInterval(timer);
      onGivenUp(problem);
    } else if (!isAnnounced) {
      isAnnounced = true;
      logger.error(
        { inferenceTimeoutMs, inferenceGraceMs },
        `${problem} Its requests were answered 504. If it does not, the process ends.`,
      );
    }
  };
  const timer = setInterval(look, CHECK_INTERVAL_MS);
  timer.unref();
}
