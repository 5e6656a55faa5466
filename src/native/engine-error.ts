import { printable } from '../lib/printable';
import type { EngineErrorCode } from './binding';

/**
 * An error that is an answer, such as a refusal: nobody asks where it was made, and under overload
 * finding that out would take a tenth of the event loop's time.
 */
export class ExpectedError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A request or a load that failed. The message may be shown to a client, except for a failed load. */
export class EngineError extends ExpectedError {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Of the input at fault in a list; null: it is not the fault of one. */
  readonly index: number | null;
  /** Of a request that was refused: after so long, in ms, what now waits will have run. */
  readonly waitMs: number | null;

  constructor(
    code: EngineErrorCode,
    message: string,
    { index = null, waitMs = null }: { index?: number | null; waitMs?: number | null } = {},
  ) {
    super(message);
    this.code = code;
    this.index = index;
    this.waitMs = waitMs;
  }
}

const MESSAGES = {
  DRAINING: 'The service is shutting down.',
  DEADLINE_EXCEEDED: 'The deadline passed before the model ran.',
  CANCELLED: 'The request was cancelled.',
} as const;

/** With the words for its code, or else these. */
export function errorOf(code: EngineErrorCode, message = ''): EngineError {
  return new EngineError(
    code,
    code in MESSAGES ? MESSAGES[code as keyof typeof MESSAGES] : printable(message),
  );
}
