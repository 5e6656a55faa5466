import type { ErrorCode } from '../../serving/errors';

/** Description of each error code in the OpenAPI document, and the message of its example. */
export const ERROR_DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  INPUT_EMPTY: 'A text is empty.',
  INPUT_LENGTH: 'A signal does not have the length of the window of the model.',
  REQUEST_INVALID: 'A header or a parameter is invalid, or the model does not support the request.',
  KEY_NEEDED: 'The API key is missing or unknown.',
  FORBIDDEN: 'The scope of the API key does not include this request.',
  NOT_FOUND: 'The model or the version does not exist.',
  METHOD_NOT_ALLOWED: 'The path does not accept the method.',
  CONFLICT: 'The model is already registered.',
  BODY_TOO_LARGE: 'The body is larger than BODY_LIMIT.',
  LIST_TOO_LONG: 'The list is longer than MAX_LIST_LENGTH.',
  RESPONSE_TOO_LARGE: 'The response would be larger than RESPONSE_LIMIT.',
  MEDIA_TYPE_UNSUPPORTED: 'The Content-Type or the Content-Encoding is not supported.',
  BODY_INVALID: 'The body is not valid JSON, or a field is missing or invalid.',
  INPUT_TOO_LONG: 'An input is longer than the model allows, and truncation is disabled.',
  UPGRADE_NEEDED: 'The request is not a WebSocket handshake.',
  HEADERS_TOO_MANY: 'The request has too many headers.',
  CANCELLED: 'The client closed the connection.',
  INFERENCE_FAILED: 'The model raised an error.',
  MODEL_NOT_LOADED: 'The model is not loaded.',
  INTERNAL: 'An unexpected error occurred in the server.',
  NOT_READY: 'The model is not ready.',
  BODY_MEMORY_FULL: 'The memory for request bodies is full (BODY_MEMORY).',
  DEADLINE_TOO_CLOSE: 'The expected queue wait exceeds the deadline.',
  DRAINING: 'The server is shutting down.',
  PIPELINE_FULL: 'Too many pipelined requests on one connection.',
  QUEUE_FULL: 'The queue is full.',
  WAIT_TOO_LONG: 'The expected queue wait exceeds its limit.',
  DEADLINE_EXCEEDED: 'The deadline passed before the model ran.',
  INFERENCE_TIMEOUT: 'The model ran longer than its time limit.',
};

/** Errors of every request that has a body. */
export const BODY_ERRORS = [
  'REQUEST_INVALID',
  'BODY_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
  'BODY_MEMORY_FULL',
  'DRAINING',
] as const satisfies readonly ErrorCode[];

/** Errors of every request that runs a model. */
export const MODEL_ERRORS = [
  'MODEL_NOT_LOADED',
  'INFERENCE_FAILED',
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'DEADLINE_TOO_CLOSE',
  'DEADLINE_EXCEEDED',
  'INFERENCE_TIMEOUT',
  'RESPONSE_TOO_LARGE',
] as const satisfies readonly ErrorCode[];
