import pino, { type Logger } from 'pino';
import { onUnexpected } from '../native/unexpected-error';
import type { Config } from '../settings/config';

/** Bytes that are buffered before a write (sonic-boom's maximum is 16 KiB), and maximum delay of a line in ms. */
const BUFFER_BYTES = 12_288;
const FLUSH_INTERVAL_MS = 200;
/** Maximum unwritten bytes if the reader is slow; further lines are dropped. */
const MAX_BYTES = 16_777_216;
/** Maximum time to write the last lines at shutdown, in ms. */
const LAST_FLUSH_MS = 2000;
/** Maximum time before a forced exit, in ms. */
const FORCED_FLUSH_MS = 200;

/** Fields of log lines that report a load error. */
export const LOAD_ERROR = {
  errorCode: 'MODEL_LOAD_FAILED',
  errorHelp: 'docs/reference/load-errors.md',
} as const;

export interface Log {
  readonly logger: Logger;
  /** Starts writing the buffered lines. */
  readonly flush: () => void;
  /** Writes the buffered lines, with a timeout, so that the event loop can end. Called last. */
  readonly end: () => void;
  /** Writes the buffered lines, then exits the process. */
  readonly flushThenExit: (exitCode: number) => void;
}

/** Log with JSON lines on standard output. Lines are buffered, and written in the background. */
export function createLog({ logLevel, service }: LogConfig): Log {
  // Accessing process.stdout sets O_NONBLOCK. Without it, a full pipe blocks a libuv thread in write(), and the process
  // does not exit before its threads.
  process.stdout.on('error', ignoreError);
  let isAbandoned = false;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MAX_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    retryEAGAIN: () => !isAbandoned,
  });
  // pino calls flushSync after a fatal line and at exit. sonic-boom's version (4.2) retries forever on a full or closed
  // pipe: the process would never exit.
  destination.flushSync = () => destination.flush(ignoreError);
  const logger = pino(
    {
      level: logLevel,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  onUnexpected((error) => logger.error(error, 'unexpected error'));
  // The log cannot be written (closed pipe, full disk): the service continues without it.
  destination.on('error', () => {
    logger.level = 'silent';
  });
  // The first flush may only wait for a write in progress, without the lines added since.
  const writeAll = (done: () => void): void => destination.flush(() => destination.flush(done));
  return {
    logger,
    flush: () => destination.flush(ignoreError),
    end: () => {
      const timer = setTimeout(() => {
        isAbandoned = true;
      }, LAST_FLUSH_MS);
      writeAll(() => clearTimeout(timer));
    },
    flushThenExit: (exitCode) => {
      const exit = (): void => process.exit(exitCode);
      writeAll(exit);
      setTimeout(exit, FORCED_FLUSH_MS);
    },
  };
}

type LogConfig = Pick<Config, 'logLevel' | 'service'>;

/** Errors are also emitted as the destination's 'error' event. */
function ignoreError(): void {}
