import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { ERRORS, retryAfterSeconds, type ServiceError } from '../serving/errors';

/** For the log and the metrics, which have HTTP's; the numbers are those of google.rpc.Code. */
const HTTP_STATUS: Readonly<Partial<Record<status, number>>> = {
  [status.OK]: 200,
  [status.CANCELLED]: 499,
  [status.INVALID_ARGUMENT]: 400,
  [status.DEADLINE_EXCEEDED]: 504,
  [status.PERMISSION_DENIED]: 403,
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
  return { code: status[ERRORS[error.code].grpc], details: error.message, metadata };
}

export function httpStatusOf(code: status): number {
  return HTTP_STATUS[code] ?? 500;
}
