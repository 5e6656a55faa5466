import type { Logger } from 'pino';
import type { EngineMonitor } from './native/engine';

/** How often a model that has not come back is looked at, in ms. */
const PERIOD_MS = 100;

export interface StuckModelLimits {
  readonly inferenceTimeoutMs: number;
  readonly inferenceGraceMs: number;
}

/**
 * Looks after a model that does not come back from a batch. No thread can be made to stop: the
 * service says that it is not ready, and when the time of grace is over as well, only a new process
 * helps.
 */
export class StuckModel {
  readonly #engine: EngineMonitor;
  readonly #logger: Logger;
  readonly #limits: StuckModelLimits;
  readonly #onGivenUp: () => void;
  #isWatching = false;

  /** @param onGivenUp called once, when the time of grace is over */
  constructor(
    engine: EngineMonitor,
    logger: Logger,
    limits: StuckModelLimits,
    onGivenUp: () => void,
  ) {
    this.#engine = engine;
    this.#logger = logger;
    this.#limits = limits;
    this.#onGivenUp = onGivenUp;
    engine.observe((completions) => {
      if (completions.some(({ code }) => code === 'INFERENCE_TIMEOUT')) this.#watch();
    });
  }

  /** For people; null: there is none. */
  get problem(): string | null {
    const { stuckMs } = this.#engine.stats();
    if (stuckMs === 0) return null;
    return `The model has not come back from a batch for ${Math.round(stuckMs)} ms.`;
  }

  /** Nothing is said of a loop that was ended: it is back by the first look. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { inferenceTimeoutMs, inferenceGraceMs } = this.#limits;
    let isAnnounced = false;
    const timer = setInterval(() => {
      const { stuckMs } = this.#engine.stats();
      if (stuckMs > inferenceTimeoutMs + inferenceGraceMs) {
        clearInterval(timer);
        this.#onGivenUp();
      } else if (stuckMs === 0) {
        clearInterval(timer);
        this.#isWatching = false;
        if (isAnnounced) this.#logger.info('The model has come back.');
      } else if (!isAnnounced) {
        isAnnounced = true;
        this.#logger.error(
          { inferenceTimeoutMs, inferenceGraceMs },
          `${this.problem} Its requests were answered 504. If it does not, the process ends.`,
        );
      }
    }, PERIOD_MS);
    timer.unref();
  }
}
