import pino, { type Logger } from 'pino';

/** Bytes gathered before a write, and the longest a line waits in ms. */
const BUFFER_BYTES = 4096;
const FLUSH_INTERVAL_MS = 200;
/** How long the last lines may take to be written, where nobody may be reading, in ms. */
const LAST_FLUSH_MS = 200;

export interface Log {
  readonly logger: Logger;
  /** Begins to write what is buffered, where little happens and nothing else would. */
  readonly flush: () => void;
  /** Ends the process at once, but for what the log still holds. */
  readonly flushThenExit: (exitCode: number) => void;
}

/**
 * JSON lines on standard output. Lines are gathered and written off this thread, so that a busy
 * server pays one write for many; pino writes the rest when the event loop ends. Never with
 * `flushSync`: on a pipe that nobody reads it tries again for ever (sonic-boom 4, `flushSync`).
 */
export function createLog(level: string, service: string): Log {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
  const logger = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  // Whoever read the log has gone (a closed pipe, a full disk). That is no reason to stop serving.
  destination.on('error', () => {
    logger.level = 'silent';
  });
  return {
    logger,
    flush: () => destination.flush(ignoreError),
    flushThenExit: (exitCode) => {
      const exit = (): void => {
        destination.destroy(); // else pino would write the rest at exit, and wait for a reader
        process.exit(exitCode);
      };
      destination.flush(exit);
      setTimeout(exit, LAST_FLUSH_MS);
    },
  };
}

/** The destination's 'error' event says it too. */
function ignoreError(): void {}
