import { status } from '@grpc/grpc-js';
import { ERRORS, retryAfterSeconds, type ServiceError } from '../serving/errors';

/** Status with which a call ends, and its trailers. */
export interface GrpcStatus {
  readonly code: status;
  readonly details: string;
  readonly trailers?: Readonly<Record<string, string>>;
}

export const OK: GrpcStatus = { code: status.OK, details: 'OK' };

/** HTTP status by gRPC status, for the log and the metrics. Default: 500. */
const HTTP_STATUS: Readonly<Partial<Record<status, number>>> = {
  [status.OK]: 200,
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.PERMISSION_DENIED]: 403,
  [status.NOT_FOUND]: 404,
  [status.RESOURCE_EXHAUSTED]: 413, // used only for messages over BODY_LIMIT
  [status.UNIMPLEMENTED]: 404, // an unknown method is an unknown route
  [status.UNAVAILABLE]: 503,
  [status.UNAUTHENTICATED]: 401,
};

/** Trailer with the error code. */
const ERROR_CODE = 'x-error-code';

/** Trailer that retry policies of gRPC clients read (gRFC A6): delay before the next attempt, in ms. */
const PUSHBACK = 'grpc-retry-pushback-ms';

/** @param raised original error, which may contain the expected wait */
export function statusOf(error: ServiceError, raised: unknown): GrpcStatus {
  const seconds = retryAfterSeconds(error, raised);
  const pushback = seconds === null ? {} : { [PUSHBACK]: String(seconds * 1000) };
  const trailers = { [ERROR_CODE]: error.code, ...pushback };
  return { code: status[ERRORS[error.code].grpc], details: error.message, trailers };
}

export function httpStatusOf(code: status): number {
  return HTTP_STATUS[code] ?? 500;
}
