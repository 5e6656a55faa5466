import pino, { type Logger } from 'pino';

/** Bytes gathered before a write, and the longest a line waits in ms. */
const BUFFER_BYTES = 4096;
const FLUSH_INTERVAL_MS = 200;

export interface Log {
  readonly logger: Logger;
  /** Writes what is buffered, on this thread, before the process ends or while little happens. */
  readonly flush: () => void;
}

/**
 * JSON lines on standard output. Lines are gathered and written off this thread, so that a busy
 * server pays one write for many; pino writes the rest when the process exits.
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
  return { logger, flush: () => destination.flushSync() };
}
