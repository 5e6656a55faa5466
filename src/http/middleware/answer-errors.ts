import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { EngineError } from '../../native/engine';
import { ElementError, IS_TEMPORARY, ServiceError } from '../../serving/errors';
import { withoutPaths } from '../../without-paths';
import { exchangeOf } from '../exchange';
import { endWith, sendJson } from '../send';

export interface ErrorLimits {
  /** Bytes. */
  readonly bodyLimit: number;
}

/** Last of all middleware: every error becomes an answer. */
export function answerErrors(limits: ErrorLimits): ErrorRequestHandler {
  return (raised: unknown, _request: Request, response: Response, _next: NextFunction) => {
    answerError(raised, response, limits);
  };
}

/** In the form of the protocol whose path it is, see `ErrorShape`. */
export function answerError(raised: unknown, response: Response, limits: ErrorLimits): void {
  const exchange = exchangeOf(response);
  const error = toServiceError(raised, { ...limits, timeoutMs: exchange.timeoutMs });
  exchange.error = raised instanceof Error ? raised : error;
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  if (IS_TEMPORARY.has(error.code)) response.setHeader('Retry-After', retryAfterSeconds(raised));
  sendJson(response, exchange.errors.status(error.code), exchange.errors.body(error));
}

export const notFound: RequestHandler = () => {
  throw new ServiceError('NOT_FOUND', 'There is no such path here.');
};

/** For what is left of a route once its methods are served. `allow`: as in the Allow header. */
export function methodNotAllowed(allow: string): RequestHandler {
  return (request: Request, response: Response) => {
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      endWith(response.status(204), undefined);
      return;
    }
    throw new ServiceError('METHOD_NOT_ALLOWED', `This path accepts ${allow} only.`);
  };
}

/** When what now waits will have run. */
export function retryAfterSeconds(error: unknown): number {
  const waitMs = error instanceof EngineError ? (error.waitMs ?? 0) : 0;
  return Math.max(1, Math.ceil(waitMs / 1000));
}

/** What the messages of errors name. */
interface Limits extends ErrorLimits {
  /** Of this request. */
  readonly timeoutMs: number;
}

/** Whatever was raised, as clients may be told of it. */
export function toServiceError(error: unknown, limits: Limits): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ElementError) {
    const { code, message } = toServiceError(error.cause, limits);
    return new ServiceError(code, `${error.path}: ${message}`);
  }
  if (error instanceof EngineError) return fromEngine(error, limits);
  return fromBodyReader(error as BodyReaderError, limits);
}

function fromEngine({ code, message }: EngineError, { timeoutMs }: Limits): ServiceError {
  if (code === 'MODEL_LOAD_FAILED') return new ServiceError('INTERNAL', message);
  if (code !== 'DEADLINE_EXCEEDED') return new ServiceError(code, message);
  return new ServiceError(code, `The deadline of ${timeoutMs} ms passed before the model ran.`);
}

/** What body-parser and raw-body attach to their errors (body-parser 2, README, "Errors"). */
interface BodyReaderError extends Error {
  readonly type?: string;
  readonly status?: number;
}

function fromBodyReader(error: BodyReaderError, limits: ErrorLimits): ServiceError {
  switch (error.type) {
    case 'entity.too.large':
      return new ServiceError(
        'BODY_TOO_LARGE',
        `The body is over the limit of ${limits.bodyLimit} bytes.`,
      );
    case 'encoding.unsupported':
      return new ServiceError(
        'MEDIA_TYPE_UNSUPPORTED',
        'The Content-Encoding must be gzip, deflate, br or identity.',
      );
    case 'request.aborted':
      return new ServiceError('CANCELLED', 'The client has gone.');
  }
  // Of the errors left, those with a client's status come from reading or inflating the body.
  return error.status !== undefined && error.status < 500
    ? new ServiceError('BODY_INVALID', 'body: cannot be read as it is encoded')
    : new ServiceError('INTERNAL', messageForClients(error));
}

function messageForClients(error: Error): string {
  return withoutPaths(error.message) || 'Internal error.';
}
