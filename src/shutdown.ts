import { constants } from 'node:os';
import type { Log } from './log';

/**
 * How long after a second signal the process is ended by force. Not zero, because npm and npx pass
 * on the signal that the terminal has already sent to the whole group: one Ctrl-C arrives twice.
 */
const SECOND_SIGNAL_GRACE_MS = 250;

/**
 * Turns SIGTERM, SIGINT, a parent's end and errors that nobody caught into one request to stop.
 * What follows is the owner's: it closes things in order, and the event loop ends because nothing
 * is left in it.
 * `process.exit` would end the process under threads that still run, so it is kept for when the
 * orderly way takes longer than the timeout, or somebody insists with a second signal.
 */
export class Shutdown {
  /** Resolves when the process is to stop. */
  readonly requested: Promise<void>;
  readonly #log: Log;
  readonly #timeoutMs: number;
  #isRequested = false;
  #isSignalled = false;
  #requestedAt = 0;
  #resolve: () => void = () => {};

  constructor(log: Log, timeoutMs: number) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    process.on('SIGTERM', this.#onSignal);
    process.on('SIGINT', this.#onSignal);
    this.#stopWithParent();
    process.on('uncaughtException', (error) => {
      this.#log.logger.fatal({ err: error }, 'uncaught error');
      process.exitCode = 1;
      this.#request();
    });
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Until the process is ended by force, in ms. */
  get remainingMs(): number {
    const passed = this.#isRequested ? performance.now() - this.#requestedAt : 0;
    return Math.max(0, this.#timeoutMs - passed);
  }

  /**
   * A parent that opened an IPC channel to this process, as scripts/start.mjs does, looks after it:
   * when the channel closes, the parent has gone, and nobody else would stop this process.
   */
  #stopWithParent(): void {
    process.once('disconnect', () => {
      if (this.#isRequested) return;
      this.#log.logger.info('stopping: the process that started this one has gone');
      this.#log.flush();
      this.#request();
    });
    process.channel?.unref(); // the listener alone would keep the event loop alive
  }

  #request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#requestedAt = performance.now();
    const reason = `not stopped within ${this.#timeoutMs} ms (SHUTDOWN_TIMEOUT_MS)`;
    this.#forceAfter(this.#timeoutMs, reason, 1);
    this.#resolve();
  }

  readonly #onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (this.#isSignalled) {
      const exitCode = 128 + constants.signals[signal];
      this.#forceAfter(SECOND_SIGNAL_GRACE_MS, `second signal, ${signal}`, exitCode);
      return;
    }
    this.#isSignalled = true; // and perhaps stopping already, for another reason
    this.#log.logger.info({ signal }, 'stopping');
    this.#log.flush();
    this.#request();
  };

  /** Unreferenced: it fires only if something still keeps the event loop alive by then. */
  #forceAfter(delayMs: number, reason: string, exitCode: number): void {
    setTimeout(() => {
      this.#log.logger.fatal({ exitCode }, `ending at once: ${reason}`);
      this.#log.flushThenExit(exitCode);
    }, delayMs).unref();
  }
}
