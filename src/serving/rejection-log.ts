import type { Logger } from 'pino';
import type { RejectionReason } from './errors';

const INTERVAL_MS = 1000;

/** Reason of a request that was rejected before its body was read. */
export type UnreadRejection = RejectionReason | 'no_key';

/**
 * Logs the number of requests that were rejected unread, by reason, once per second. Under overload there are thousands:
 * a log line for each would cost more than the rejection. At level debug each has its own line.
 */
export class RejectionLog {
  readonly #logger: Logger;
  readonly #counts = new Map<UnreadRejection, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  count(reason: UnreadRejection): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#timer ??= setTimeout(this.flush, INTERVAL_MS).unref();
  }

  /** Logs the counts now; called at shutdown. */
  readonly flush = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#counts.size === 0) return;
    this.#logger.warn({ rejected: Object.fromEntries(this.#counts) }, 'requests rejected unread');
    this.#counts.clear();
  };
}
