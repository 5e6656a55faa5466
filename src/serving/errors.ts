import { EngineError, type EngineErrorCode } from '../native/engine';
import { ExpectedError } from '../native/expected-error';
import { withoutPaths } from '../without-paths';

export type ErrorCode =
  | Exclude<EngineErrorCode, 'MODEL_LOAD_FAILED'>
  | 'REQUEST_INVALID'
  | 'BODY_INVALID'
  | 'BODY_TOO_LARGE'
  | 'LIST_TOO_LONG'
  | 'MEDIA_TYPE_UNSUPPORTED'
  | 'KEY_NEEDED'
  | 'HEADERS_TOO_MANY'
  | 'INPUT_EMPTY'
  | 'INPUT_LENGTH'
  | 'MODEL_NOT_LOADED'
  | 'NOT_READY'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'BODY_MEMORY_FULL'
  | 'PIPELINE_FULL'
  | 'INTERNAL';

/** The one table of error code → HTTP status. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  INPUT_EMPTY: 400,
  INPUT_LENGTH: 400,
  REQUEST_INVALID: 400,
  KEY_NEEDED: 401,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  LIST_TOO_LONG: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  BODY_INVALID: 422,
  INPUT_TOO_LONG: 422,
  HEADERS_TOO_MANY: 431,
  CANCELLED: 499, // never sent: the client has gone. Written to the log only (nginx's code for it)
  INFERENCE_FAILED: 500,
  MODEL_NOT_LOADED: 500,
  INTERNAL: 500,
  DRAINING: 503,
  NOT_READY: 503,
  QUEUE_FULL: 503,
  WAIT_TOO_LONG: 503,
  DEADLINE_TOO_CLOSE: 503,
  BODY_MEMORY_FULL: 503,
  PIPELINE_FULL: 503,
  DEADLINE_EXCEEDED: 504,
  INFERENCE_TIMEOUT: 504,
};

/** What means "later": the answer says after how many seconds to try again. */
const IS_TEMPORARY: ReadonlySet<ErrorCode> = new Set([
  'DRAINING',
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'DEADLINE_TOO_CLOSE',
  'BODY_MEMORY_FULL',
  'PIPELINE_FULL',
] as const);

/** An error whose message the client may read. */
export class ServiceError extends ExpectedError {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error of one element of a list. `path`: its place in the body, as `texts[3]`. */
export class ElementError extends Error {
  override readonly name = 'ElementError';
  readonly path: string;
  override readonly cause: Error;

  constructor(path: string, cause: Error) {
    super(`${path}: ${cause.message}`);
    this.path = path;
    this.cause = cause;
  }
}

/** Whatever was raised, as clients may be told of it. @param timeoutMs of the request */
export function toServiceError(raised: unknown, timeoutMs: number): ServiceError {
  if (raised instanceof ServiceError) return raised;
  if (raised instanceof ElementError) {
    const { code, message } = toServiceError(raised.cause, timeoutMs);
    return new ServiceError(code, `${raised.path}: ${message}`);
  }
  if (!(raised instanceof EngineError) || raised.code === 'MODEL_LOAD_FAILED') {
    const { message } = raised as Error;
    const told = raised instanceof EngineError ? message : withoutPaths(message);
    return new ServiceError('INTERNAL', told || 'Internal error.');
  }
  if (raised.code !== 'DEADLINE_EXCEEDED') return new ServiceError(raised.code, raised.message);
  const message = `The deadline of ${timeoutMs} ms passed before the model ran.`;
  return new ServiceError(raised.code, message);
}

/** When what now waits will have run; null: to try again is of no use. */
export function retryAfterSeconds(error: ServiceError, raised: unknown): number | null {
  if (!IS_TEMPORARY.has(error.code)) return null;
  const waitMs = raised instanceof EngineError ? (raised.waitMs ?? 0) : 0;
  return Math.max(1, Math.ceil(waitMs / 1000));
}
