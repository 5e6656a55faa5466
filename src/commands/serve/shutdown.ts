import { constants } from 'node:os';
import type { Log } from '../../serving/log';
import type { Config } from '../../settings/config';

/**
 * How long after the first signal another one is taken for the same, in ms. npm and npx pass on what
 * the terminal (Ctrl-C) or systemd (its whole control group) has already sent to this process.
 */
const SAME_SIGNAL_MS = 100;

/** Both from the signal: until the port closes, and until the process is ended by force. */
type ShutdownTimes = Pick<Config, 'shutdownDelayMs' | 'shutdownTimeoutMs'>;

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
  /**
   * Resolves when no more requests are to be taken: a delay after the signal, in which load balancers
   * notice; at once after an error that nobody caught, for who knows what it has left behind.
   */
  readonly closePorts: Promise<void>;
  readonly #log: Log;
  readonly #config: ShutdownTimes;
  #isRequested = false;
  #requestedAt = 0;
  #signalledAt: number | null = null;
  #request: () => void = () => {};
  #endDelay: () => void = () => {};

  constructor(log: Log, config: ShutdownTimes) {
    this.#log = log;
    this.#config = config;
    this.requested = new Promise((resolve) => {
      this.#request = resolve;
    });
    this.closePorts = new Promise((resolve) => {
      this.#endDelay = resolve;
    });
    process.on('SIGTERM', this.#onSignal);
    process.on('SIGINT', this.#onSignal);
    this.#stopWithParent();
    process.on('uncaughtException', (error) => {
      this.#log.logger.fatal({ err: error }, 'uncaught error');
      process.exitCode = 1;
      this.#stopAfter(0);
    });
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Until the process is ended by force, in ms. */
  get remainingMs(): number {
    const passed = this.#isRequested ? performance.now() - this.#requestedAt : 0;
    return Math.max(0, this.#config.shutdownTimeoutMs - passed);
  }

  /** Stops without a delay; the process ends with this exit code, also by force. */
  exitWith(exitCode: number): void {
    process.exitCode = exitCode;
    this.#stopAfter(0, exitCode);
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
      this.#stopAfter(0);
    });
    process.channel?.unref(); // the listener alone would keep the event loop alive
  }

  #stopAfter(delayMs: number, forcedExitCode = 1): void {
    if (delayMs === 0) this.#endDelay();
    else setTimeout(this.#endDelay, delayMs).unref();
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#requestedAt = performance.now();
    const { shutdownTimeoutMs: timeoutMs } = this.#config;
    // Unreferenced: it fires only if something still keeps the event loop alive by then.
    setTimeout(() => {
      this.#force(`not stopped within ${timeoutMs} ms (SHUTDOWN_TIMEOUT_MS)`, forcedExitCode);
    }, timeoutMs).unref();
    this.#request();
  }

  readonly #onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    const now = performance.now();
    if (this.#signalledAt === null) {
      this.#signalledAt = now;
      this.#log.logger.info({ signal }, 'stopping');
      this.#log.flush();
      this.#stopAfter(this.#config.shutdownDelayMs);
    } else if (now - this.#signalledAt > SAME_SIGNAL_MS) {
      this.#force(`second signal, ${signal}`, 128 + constants.signals[signal]);
    }
  };

  #force(reason: string, exitCode: number): void {
    this.#log.logger.fatal({ exitCode }, `ending at once: ${reason}`);
    this.#log.flushThenExit(exitCode);
  }
}
