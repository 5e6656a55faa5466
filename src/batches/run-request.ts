import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { InferOptions } from '../native/engine';
import { ExpectedError } from '../native/engine-error';
import type { Cancellation } from '../native/pending-requests';
import type { Access, ProtectedResource } from '../serving/access';
import {
  ElementError,
  ERRORS,
  type ErrorCode,
  type ServiceError,
  toServiceError,
} from '../serving/errors';
import { isLarge, jsonInTurns, responseTooLarge } from '../serving/json';
import type { Readiness } from '../serving/readiness';
import type { ModelRef, ServiceResponse } from '../serving/request-context';
import type { ServiceRequest } from '../serving/service-request';
import type { BatchRequest } from './batch-request';
import { newId } from './ids';

/** Delay before a request that a full queue rejected runs again, in ms. */
const RETRY_MS = 250;

/** A route that batches can call: its handler and error format, without HTTP. */
export interface Endpoint {
  /** What an API key must permit; null: the handler checks the model. */
  readonly resource: ProtectedResource | null;
  handle(call: ServiceRequest): ServiceResponse | Promise<ServiceResponse>;
  readonly errors: {
    status(code: ErrorCode): number;
    body(error: ServiceError, access: Access): object;
  };
}

/** What all requests of a batch share. */
export interface RequestParts {
  readonly endpoint: Endpoint;
  /** Permissions of the API key that created the batch. */
  readonly access: Access;
  readonly owner: string;
  readonly cancellation: Cancellation;
  readonly readiness: Readiness;
  /** RESPONSE_LIMIT in bytes. */
  readonly responseLimit: number;
  /** Whether the completion window of the batch has passed. */
  readonly isExpired: () => boolean;
  /** Logs an error that the client cannot cause. */
  readonly logUnexpected: (error: unknown) => void;
}

/** Line of the output file or of the error file. */
export interface RequestResult {
  readonly isSuccess: boolean;
  /** The request has not run before the end of the completion window. */
  readonly isExpired: boolean;
  /** With a line break at its end. */
  readonly line: Buffer;
}

/** The batch was cancelled, or the server stops: the request has no result. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/**
 * Runs a request of a batch with the handler of its HTTP route, at low priority and without a deadline. A request that a
 * full queue or an unloading model rejects runs again.
 *
 * @throws StoppedError
 */
export async function runRequest(
  { customId, body }: BatchRequest,
  parts: RequestParts,
): Promise<RequestResult> {
  const requestId = randomUUID();
  for (;;) {
    if (parts.cancellation.aborted) throw new StoppedError();
    if (parts.isExpired()) return expiredResult(customId);
    try {
      const { endpoint, access } = parts;
      const error = endpoint.resource && access.errorFor(endpoint.resource);
      if (error) throw error;
      const response = await endpoint.handle(new BatchCall(body, requestId, parts));
      const json = await serialize(response.body, parts.responseLimit);
      return toResult(true, { customId, requestId, status: response.status ?? 200, json });
    } catch (raised) {
      if (parts.cancellation.aborted) throw new StoppedError();
      const error = toServiceError(raised, { timeoutMs: 0, requestId });
      if (ERRORS[error.code].rejection === undefined) {
        if (isUnexpected(raised)) parts.logUnexpected(raised);
        const { status, body: errorBody } = parts.endpoint.errors;
        const json = Buffer.from(JSON.stringify(errorBody(error, parts.access)));
        return toResult(false, { customId, requestId, status: status(error.code), json });
      }
    }
    await delay(RETRY_MS);
  }
}

/** A request as handlers receive it. */
class BatchCall implements ServiceRequest {
  readonly body: unknown;
  readonly requestId: string;
  readonly startedAt = performance.now();
  readonly parameters = {};
  readonly query = new URLSearchParams();
  readonly #parts: RequestParts;

  constructor(body: unknown, requestId: string, parts: RequestParts) {
    this.body = body;
    this.requestId = requestId;
    this.#parts = parts;
  }

  get access(): Access {
    return this.#parts.access;
  }

  get owner(): string {
    return this.#parts.owner;
  }

  get readiness(): Readiness {
    return this.#parts.readiness;
  }

  /** Lines of an input file have no headers. */
  header(): undefined {
    return undefined;
  }

  /** Checks the access to the model. The inputs have no deadline and a low priority. */
  inferOptions(model: ModelRef): InferOptions {
    this.#parts.access.requireInference(model);
    return { signal: this.#parts.cancellation, isBackground: true };
  }
}

function isUnexpected(raised: unknown): boolean {
  const cause = raised instanceof ElementError ? raised.cause : raised;
  return !(cause instanceof ExpectedError);
}

/** Serializes a response body as the HTTP server does. @throws ServiceError RESPONSE_TOO_LARGE */
async function serialize(body: object | Buffer, maxBytes: number): Promise<Buffer> {
  if (!Buffer.isBuffer(body)) {
    return isLarge(body) ? jsonInTurns(body, maxBytes) : Buffer.from(JSON.stringify(body));
  }
  if (body.length > maxBytes) throw responseTooLarge(body.length, maxBytes);
  return body;
}

/** @param json body of the response, without line breaks */
function toResult(
  isSuccess: boolean,
  {
    customId,
    requestId,
    status,
    json,
  }: {
    readonly customId: string;
    readonly requestId: string;
    readonly status: number;
    readonly json: Buffer;
  },
): RequestResult {
  const begin = `{"id":"${newId('batch_req_')}","custom_id":${JSON.stringify(customId)},"response":{"status_code":${status},"request_id":"${requestId}","body":`;
  const line = Buffer.concat([Buffer.from(begin), json, Buffer.from('},"error":null}\n')]);
  return { isSuccess, isExpired: false, line };
}

/** Result of a request that has not run before the end of the completion window. */
function expiredResult(customId: string): RequestResult {
  const message =
    'This request could not be executed before the completion window of the batch expired.';
  const error = { code: 'batch_expired', message };
  const value = { id: newId('batch_req_'), custom_id: customId, response: null, error };
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  return { isSuccess: false, isExpired: true, line };
}
