import { printable } from '../lib/printable';
import type { EngineErrorCode, NativeRefusal } from './binding';

/**
 * An error that becomes a response, such as a rejection. It has no stack trace: collecting stack traces would
 * take a tenth of the event loop's time under overload.
 */
export class ExpectedError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Error of a request or a model load. The message can be sent to clients, except for MODEL_LOAD_FAILED. */
export class EngineError extends ExpectedError {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  /** Index of the input of a list that caused the error; null: no single input did. */
  readonly index: number | null;
  /** Expected queue wait of a rejected request, in ms; null: unknown. */
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

/** @param message used for codes without a fixed message */
export function errorOf(code: EngineErrorCode, message = ''): EngineError {
  return new EngineError(
    code,
    code in MESSAGES ? MESSAGES[code as keyof typeof MESSAGES] : printable(message),
  );
}

/** Errors that are caused by the input itself. The other inputs of its list did not fail. */
const INPUT_FAULTS: ReadonlySet<EngineErrorCode> = new Set([
  'INFERENCE_FAILED',
  'DEADLINE_EXCEEDED',
  'INPUT_TOO_LONG',
]);

export function isInputFault({ code }: EngineError): boolean {
  return INPUT_FAULTS.has(code);
}

/** The error with the index of the input that caused it. */
export function withIndex({ code, message }: EngineError, index: number | null): EngineError {
  return new EngineError(code, message, { index });
}

/** Error of a request that the queue rejected. */
export function refusalError(
  { code, waitMs }: NativeRefusal,
  { timeoutMs, maxQueueWaitMs }: { readonly timeoutMs: number; readonly maxQueueWaitMs: number },
): EngineError {
  const wait = `The wait in the queue would be about ${Math.ceil(waitMs)} ms,`;
  switch (code) {
    case 'DRAINING':
      return errorOf(code);
    case 'QUEUE_FULL':
      return new EngineError(code, 'The queue is full.', { waitMs });
    case 'WAIT_TOO_LONG':
      return new EngineError(code, `${wait} over the limit of ${maxQueueWaitMs} ms.`, { waitMs });
    case 'DEADLINE_TOO_CLOSE': {
      const deadline = Math.round(timeoutMs);
      return new EngineError(code, `${wait} the deadline is in ${deadline} ms.`, { waitMs });
    }
  }
}
