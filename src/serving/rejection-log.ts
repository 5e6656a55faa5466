import type { Logger } from 'pino';
import type { RejectionReason } from './errors';

const INTERVAL_MS = 1000;

/** Why nothing of a request was read. */
export type UnreadRefusal = RejectionReason | 'no_key';

/**
 * Requests that were refused before they were read, summed up once a second: under overload there are
 * thousands of them, and a line for each would cost more than the refusal. Each has a line of its own
 * at level debug.
 */
export class RejectionLog {
  readonly #logger: Logger;
  readonly #counts = new Map<UnreadRefusal, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  count(refusal: UnreadRefusal): void {
    this.#counts.set(refusal, (this.#counts.get(refusal) ?? 0) + 1);
    // Unreferenced: whoever closes the server writes the rest.
    this.#timer ??= setTimeout(this.flush, INTERVAL_MS).unref();
  }

  readonly flush = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#counts.size === 0) return;
    this.#logger.warn({ refused: Object.fromEntries(this.#counts) }, 'requests refused unread');
    this.#counts.clear();
  };
}
