import { constants } from 'node:os';
import type { Log } from '../../serving/log';
import type { Config } from '../../settings/config';

/**
 * Time after the first signal in which a second signal is ignored, in ms. npm and npx forward signals that the
 * terminal (Ctrl-C) or systemd (its control group) has already sent to this process.
 */
const DUPLICATE_SIGNAL_MS = 100;

/** Times from the signal until the port closes, and until the process exits by force. */
type ShutdownTimes = Pick<Config, 'shutdownDelayMs' | 'shutdownTimeoutMs'>;

/**
 * Graceful shutdown: SIGTERM, SIGINT, the exit of the parent process and uncaught errors request one stop. The owner
 * then closes the servers and models in order, and the process exits with an empty event loop. `process.exit` would
 * end the process while native threads run: it is used only after SHUTDOWN_TIMEOUT_MS or a second signal.
 */
export class Shutdown {
  /** Resolves at the first request to stop. */
  readonly requested: Promise<void>;
  /**
   * Resolves when the ports must close: SHUTDOWN_DELAY_MS after a signal, so that load balancers detect it; at once
   * after an uncaught error, which can leave an inconsistent state.
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

  /** Time until the process exits by force, in ms. */
  get remainingMs(): number {
    const passed = this.#isRequested ? performance.now() - this.#requestedAt : 0;
    return Math.max(0, this.#config.shutdownTimeoutMs - passed);
  }

  /** Stops without a delay, with this exit code, also if the exit is forced. */
  exitWith(exitCode: number): void {
    process.exitCode = exitCode;
    this.#stopAfter(0, exitCode);
  }

  /** Stops when the IPC channel to the parent process closes (scripts/start.mjs): the parent has exited. */
  #stopWithParent(): void {
    process.once('disconnect', () => {
      if (this.#isRequested) return;
      this.#log.logger.info('stopping: parent process exited');
      this.#log.flush();
      this.#stopAfter(0);
    });
    process.channel?.unref(); // The listener would keep the event loop running.
  }

  #stopAfter(delayMs: number, forcedExitCode = 1): void {
    if (delayMs === 0) this.#endDelay();
    else setTimeout(this.#endDelay, delayMs).unref();
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#requestedAt = performance.now();
    const { shutdownTimeoutMs: timeoutMs } = this.#config;
    // Unreferenced: the timer fires only if the event loop is still in use.
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
    } else if (now - this.#signalledAt > DUPLICATE_SIGNAL_MS) {
      this.#force(`second signal, ${signal}`, 128 + constants.signals[signal]);
    }
  };

  #force(reason: string, exitCode: number): void {
    this.#log.logger.fatal({ exitCode }, `forced exit: ${reason}`);
    this.#log.flushThenExit(exitCode);
  }
}
