import type { status } from '@grpc/grpc-js';
import { EngineError, type EngineErrorCode } from '../native/engine';
import { ExpectedError } from '../native/engine-error';

/** How an error code is reported. */
interface ErrorKind {
  /** HTTP status; also the status in log and metrics. */
  readonly http: number;
  readonly grpc: keyof typeof status;
  /** Reason of a temporary rejection, as a label of the metrics. The response has a Retry-After header. */
  readonly rejection?: string;
}

const KINDS = {
  INPUT_EMPTY: { http: 400, grpc: 'INVALID_ARGUMENT' },
  INPUT_LENGTH: { http: 400, grpc: 'INVALID_ARGUMENT' },
  REQUEST_INVALID: { http: 400, grpc: 'INVALID_ARGUMENT' },
  HTTP_INVALID: { http: 400, grpc: 'INVALID_ARGUMENT' },
  KEY_NEEDED: { http: 401, grpc: 'UNAUTHENTICATED' },
  FORBIDDEN: { http: 403, grpc: 'PERMISSION_DENIED' },
  NOT_FOUND: { http: 404, grpc: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { http: 405, grpc: 'UNIMPLEMENTED' },
  RECEIVE_TIMEOUT: { http: 408, grpc: 'DEADLINE_EXCEEDED' },
  CONFLICT: { http: 409, grpc: 'ALREADY_EXISTS' },
  BODY_TOO_LARGE: { http: 413, grpc: 'RESOURCE_EXHAUSTED' },
  LIST_TOO_LONG: { http: 413, grpc: 'INVALID_ARGUMENT' },
  STORAGE_FULL: { http: 413, grpc: 'RESOURCE_EXHAUSTED' },
  RESPONSE_TOO_LARGE: { http: 413, grpc: 'INVALID_ARGUMENT' },
  MEDIA_TYPE_UNSUPPORTED: { http: 415, grpc: 'INVALID_ARGUMENT' },
  BODY_INVALID: { http: 422, grpc: 'INVALID_ARGUMENT' },
  INPUT_TOO_LONG: { http: 422, grpc: 'INVALID_ARGUMENT' },
  UPGRADE_NEEDED: { http: 426, grpc: 'UNIMPLEMENTED' },
  HEADERS_TOO_LARGE: { http: 431, grpc: 'INVALID_ARGUMENT' },
  /** The client disconnected. Only logged, with nginx's status for it. */
  CANCELLED: { http: 499, grpc: 'CANCELLED' },
  INFERENCE_FAILED: { http: 500, grpc: 'INTERNAL' },
  MODEL_NOT_LOADED: { http: 500, grpc: 'UNAVAILABLE' },
  INTERNAL: { http: 500, grpc: 'INTERNAL' },
  NOT_READY: { http: 503, grpc: 'UNAVAILABLE' },
  CONNECTIONS_FULL: { http: 503, grpc: 'UNAVAILABLE' },
  BODY_MEMORY_FULL: { http: 503, grpc: 'UNAVAILABLE', rejection: 'body_memory_full' },
  DEADLINE_TOO_CLOSE: { http: 503, grpc: 'UNAVAILABLE', rejection: 'deadline' },
  DRAINING: { http: 503, grpc: 'UNAVAILABLE', rejection: 'draining' },
  PIPELINE_FULL: { http: 503, grpc: 'UNAVAILABLE', rejection: 'pipeline_full' },
  QUEUE_FULL: { http: 503, grpc: 'UNAVAILABLE', rejection: 'queue_full' },
  WAIT_TOO_LONG: { http: 503, grpc: 'UNAVAILABLE', rejection: 'queue_wait' },
  DEADLINE_EXCEEDED: { http: 504, grpc: 'DEADLINE_EXCEEDED' },
  INFERENCE_TIMEOUT: { http: 504, grpc: 'DEADLINE_EXCEEDED' },
} as const satisfies Readonly<Record<string, ErrorKind>> &
  Readonly<Record<Exclude<EngineErrorCode, 'MODEL_LOAD_FAILED'>, ErrorKind>>;

export type ErrorCode = keyof typeof KINDS;
/** Reason of a rejection that the client can retry. */
export type RejectionReason = Extract<
  (typeof KINDS)[ErrorCode],
  { readonly rejection: string }
>['rejection'];

/** All error codes. */
export const ERRORS: Readonly<
  Record<ErrorCode, ErrorKind & { readonly rejection?: RejectionReason }>
> = KINDS;

/** An error whose message is sent to the client. */
export class ServiceError extends ExpectedError {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** No route has the path of the request. */
export class PathNotFoundError extends ServiceError {
  constructor() {
    super('NOT_FOUND', 'Path not found.');
  }
}

/** An error of one element of a list. `path`: its location in the body, such as `texts[3]`. */
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

/**
 * Converts any raised value to the error that is sent. Unexpected errors get a fixed message with the request id.
 *
 * @param timeoutMs deadline of the request, for the message
 * @param requestId finds the log line with the details
 */
export function toServiceError(
  raised: unknown,
  { timeoutMs, requestId }: { readonly timeoutMs: number; readonly requestId: string },
): ServiceError {
  if (raised instanceof ServiceError) return raised;
  if (raised instanceof ElementError) {
    const { code, message } = toServiceError(raised.cause, { timeoutMs, requestId });
    return new ServiceError(code, `${raised.path}: ${message}`);
  }
  if (!(raised instanceof EngineError) || raised.code === 'MODEL_LOAD_FAILED') {
    const isForClients = raised instanceof ExpectedError && raised.message !== '';
    return new ServiceError('INTERNAL', isForClients ? raised.message : unexpectedError(requestId));
  }
  if (raised.code !== 'DEADLINE_EXCEEDED') return new ServiceError(raised.code, raised.message);
  const message = `The deadline of ${timeoutMs} ms passed before the model ran.`;
  return new ServiceError(raised.code, message);
}

function unexpectedError(requestId: string): string {
  return `An unexpected error occurred. Search the server log for the request id ${requestId}.`;
}

/** Retry-After: seconds until the queued work is done; null: a retry does not help. */
export function retryAfterSeconds(error: ServiceError, raised: unknown): number | null {
  if (ERRORS[error.code].rejection === undefined) return null;
  const waitMs = raised instanceof EngineError ? (raised.waitMs ?? 0) : 0;
  return Math.max(1, Math.ceil(waitMs / 1000));
}
