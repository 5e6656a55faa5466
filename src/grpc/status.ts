import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { type ErrorCode, retryAfterSeconds, type ServiceError } from '../serving/errors';

/** The one table of error code → gRPC status. */
const STATUS: Readonly<Record<ErrorCode, status>> = {
  INPUT_EMPTY: status.INVALID_ARGUMENT,
  INPUT_LENGTH: status.INVALID_ARGUMENT,
  INPUT_TOO_LONG: status.INVALID_ARGUMENT,
  REQUEST_INVALID: status.INVALID_ARGUMENT,
  BODY_INVALID: status.INVALID_ARGUMENT,
  LIST_TOO_LONG: status.INVALID_ARGUMENT,
  MEDIA_TYPE_UNSUPPORTED: status.INVALID_ARGUMENT,
  HEADERS_TOO_MANY: status.INVALID_ARGUMENT,
  KEY_NEEDED: status.UNAUTHENTICATED,
  NOT_FOUND: status.NOT_FOUND,
  METHOD_NOT_ALLOWED: status.UNIMPLEMENTED,
  BODY_TOO_LARGE: status.RESOURCE_EXHAUSTED,
  CANCELLED: status.CANCELLED,
  INFERENCE_FAILED: status.INTERNAL,
  INTERNAL: status.INTERNAL,
  MODEL_NOT_LOADED: status.UNAVAILABLE,
  NOT_READY: status.UNAVAILABLE,
  DRAINING: status.UNAVAILABLE,
  QUEUE_FULL: status.UNAVAILABLE,
  WAIT_TOO_LONG: status.UNAVAILABLE,
  DEADLINE_TOO_CLOSE: status.UNAVAILABLE,
  BODY_MEMORY_FULL: status.UNAVAILABLE,
  PIPELINE_FULL: status.UNAVAILABLE,
  DEADLINE_EXCEEDED: status.DEADLINE_EXCEEDED,
  INFERENCE_TIMEOUT: status.DEADLINE_EXCEEDED,
};

/** For the log and the metrics, which have HTTP's; the numbers are those of google.rpc.Code. */
const HTTP_STATUS: Readonly<Partial<Record<status, number>>> = {
  [status.OK]: 200,
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.NOT_FOUND]: 404,
  [status.RESOURCE_EXHAUSTED]: 413, // here only of messages that are too large
  [status.UNIMPLEMENTED]: 404, // as there it would be: no such route
  [status.UNAVAILABLE]: 503,
  [status.UNAUTHENTICATED]: 401,
};

/** What gRPC's own retry policies read (A6): when to try again, in ms. */
const PUSHBACK = 'grpc-retry-pushback-ms';

/** @param raised what the error was made of: it may know how long what waits will take */
export function statusOf(error: ServiceError, raised: unknown): StatusObject {
  const metadata = new Metadata();
  const seconds = retryAfterSeconds(error, raised);
  if (seconds !== null) metadata.set(PUSHBACK, String(seconds * 1000));
  return { code: STATUS[error.code], details: error.message, metadata };
}

export function httpStatusOf(code: status): number {
  return HTTP_STATUS[code] ?? 500;
}
