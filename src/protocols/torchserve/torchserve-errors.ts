import { z } from 'zod';
import { ERRORS, type ErrorCode, ServiceError } from '../../serving/errors';
import { type NamedModel, quoteNames } from '../../tasks/served-model';
import type { ErrorFormat } from '../protocol';

export const errorResponse = z.object({
  code: z.int().describe('HTTP status'),
  type: z.string().describe('Class of the exception that TorchServe raises'),
  message: z.string(),
});
export const ERROR_SCHEMA = { name: 'TorchServeError', schema: errorResponse };

const BAD = { status: 400, type: 'BadRequestException' };
const TOO_LARGE = { status: 413, type: 'TooLongHttpContentException' };
/** Error of a handler of TorchServe. */
const FAILED = { status: 503, type: 'InternalServerException' };
const UNAVAILABLE = { status: 503, type: 'ServiceUnavailableException' };
const LATE = { status: 504, type: 'RequestTimeoutException' };

const KINDS: Readonly<
  Partial<Record<ErrorCode, { readonly status: number; readonly type: string }>>
> = {
  INPUT_EMPTY: BAD,
  INPUT_LENGTH: BAD,
  INPUT_TOO_LONG: BAD,
  REQUEST_INVALID: BAD,
  BODY_INVALID: BAD,
  MEDIA_TYPE_UNSUPPORTED: { ...BAD, status: 415 },
  HEADERS_TOO_LARGE: { ...BAD, status: 431 },
  KEY_NEEDED: { status: 401, type: 'InvalidKeyException' },
  FORBIDDEN: { status: 403, type: 'InvalidKeyException' },
  NOT_FOUND: { status: 404, type: 'ResourceNotFoundException' },
  METHOD_NOT_ALLOWED: { status: 405, type: 'MethodNotAllowedException' },
  CONFLICT: { status: 409, type: 'ConflictStatusException' },
  BODY_TOO_LARGE: TOO_LARGE,
  LIST_TOO_LONG: TOO_LARGE,
  RESPONSE_TOO_LARGE: TOO_LARGE,
  INFERENCE_FAILED: FAILED,
  MODEL_NOT_LOADED: UNAVAILABLE,
  NOT_READY: UNAVAILABLE,
  BODY_MEMORY_FULL: UNAVAILABLE,
  DEADLINE_TOO_CLOSE: UNAVAILABLE,
  DRAINING: UNAVAILABLE,
  PIPELINE_FULL: UNAVAILABLE,
  QUEUE_FULL: UNAVAILABLE,
  WAIT_TOO_LONG: UNAVAILABLE,
  DEADLINE_EXCEEDED: LATE,
  INFERENCE_TIMEOUT: LATE,
};

/** Error with another exception class than other errors of its code. */
class TypedError extends ServiceError {
  readonly type: string;

  constructor(code: ErrorCode, type: string, message: string) {
    super(code, message);
    this.type = type;
  }
}

/** Error format of TorchServe: `{"code", "type", "message"}`. */
export const errors: ErrorFormat = {
  status: statusOf,
  body: (error: ServiceError): z.infer<typeof errorResponse> => ({
    code: statusOf(error.code),
    type: typeOf(error),
    message: error.message,
  }),
};

/** 404. The message lists the models. */
export function modelNotFound(name: string, names: readonly string[]): ServiceError {
  return new TypedError(
    'NOT_FOUND',
    'ModelNotFoundException',
    `Model not found: ${name}. Models: ${quoteNames(names)}`,
  );
}

/** 404. The message lists the versions. */
export function versionNotFound(version: string, model: NamedModel): ServiceError {
  const versions = model.versions.map((one) => one.version).join(', ') || 'none';
  return new TypedError(
    'NOT_FOUND',
    'ModelVersionNotFoundException',
    `Model version: ${version} does not exist for model: ${model.name} (there are ${versions})`,
  );
}

/** 403: the default version cannot be removed. */
export function isDefaultVersion({ name }: NamedModel): ServiceError {
  const message = `Cannot remove default version for model ${name}`;
  return new TypedError('FORBIDDEN', 'InvalidModelVersionException', message);
}

/** 400: the files of the model cannot be loaded. */
export function invalidModel(reason: string): ServiceError {
  return new TypedError('REQUEST_INVALID', 'InvalidModelException', reason);
}

function statusOf(code: ErrorCode): number {
  return KINDS[code]?.status ?? ERRORS[code].http;
}

function typeOf(error: ServiceError): string {
  if (error instanceof TypedError) return error.type;
  return KINDS[error.code]?.type ?? 'InternalServerException';
}
