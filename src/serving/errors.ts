import type { EngineErrorCode } from '../native/engine';
import { ExpectedError } from '../native/expected-error';

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
export const IS_TEMPORARY: ReadonlySet<ErrorCode> = new Set([
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
