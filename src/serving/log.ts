import pino, { type Logger } from 'pino';
import { onUnexpected } from '../native/unexpected-error';
import type { Config } from '../settings/config';

/** Bytes gathered before a write, of sonic-boom's 16 KiB at most, and the longest a line waits in ms. */
const BUFFER_BYTES = 12_288;
const FLUSH_INTERVAL_MS = 200;
/** Bytes that may wait for a reader who falls behind; more lines are dropped. */
const MOST_BYTES = 16_777_216;
/** How long the last lines may take to be written, where nobody may be reading, in ms. */
const LAST_FLUSH_MS = 2000;
/** The same where the process is to end at once. */
const FORCED_FLUSH_MS = 200;

export interface Log {
  readonly logger: Logger;
  /** Begins to write what is buffered, where little happens and nothing else would. */
  readonly flush: () => void;
  /**
   * Writes what is left, if somebody reads it in time. To be called when nothing more is to happen:
   * the event loop ends then, whoever reads.
   */
  readonly end: () => void;
  /** Ends the process at once, but for what the log still holds. */
  readonly flushThenExit: (exitCode: number) => void;
}

/**
 * JSON lines on standard output. Lines are gathered and written off this thread, so that a busy
 * server pays one write for many; `end` writes the rest.
 */
export function createLog({ logLevel, service }: LogConfig): Log {
  // Node opens its own stream with O_NONBLOCK. Without, a full pipe would hold a thread of libuv's pool
  // in its write, and no process ends before those threads have.
  process.stdout.on('error', ignoreError);
  let isGivenUp = false;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MOST_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    retryEAGAIN: () => !isGivenUp,
  });
  // pino calls it after a fatal line and when the process exits. sonic-boom's own (4.2) tries for ever
  // on a pipe that is full or has lost its reader: the process would never end.
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
  // Whoever read the log has gone (a closed pipe, a full disk). That is no reason to stop serving.
  destination.on('error', () => {
    logger.level = 'silent';
  });
  // A flush that meets a write under way waits for that one, and leaves the lines that came since.
  const writeAll = (done: () => void): void => destination.flush(() => destination.flush(done));
  return {
    logger,
    flush: () => destination.flush(ignoreError),
    end: () => {
      const timer = setTimeout(() => {
        isGivenUp = true;
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

/** The destination's 'error' event says it too. */
function ignoreError(): void {}
