import type { ErrorCode } from '../../serving/errors';

export interface ErrorDescription {
  readonly cause: string;
  /** What the client or the operator can do. */
  readonly fix: string;
}

/** Error codes in the OpenAPI document and in docs/reference/errors.md, which is generated. */
// biome-ignore format: a table with two lines per code
export const ERROR_DESCRIPTIONS: Readonly<Record<ErrorCode, ErrorDescription>> = {
  INPUT_EMPTY: { cause: 'A text is empty.',
    fix: 'Send a text with at least one character that is not white space.' },
  INPUT_LENGTH: { cause: 'The length of a signal differs from the window length of the model.',
    fix: 'Send windows of the length that GET /info reports, or use POST /stream for longer signals.' },
  REQUEST_INVALID: { cause: 'A header or a parameter is invalid, or the model does not support the request.',
    fix: 'Correct the header or the parameter that the message names.' },
  HTTP_INVALID: { cause: 'The request is not valid HTTP/1.1.',
    fix: 'Check the client or the proxy that wrote the request.' },
  KEY_NEEDED: { cause: 'The API key is missing or unknown.',
    fix: 'Send the header "Authorization: Bearer KEY" once, with a key of API_KEY or API_KEYS_FILE.' },
  FORBIDDEN: { cause: 'The scope of the API key does not include this request.',
    fix: 'Use a key with this scope, or add the scope to its line in API_KEYS_FILE.' },
  NOT_FOUND: { cause: 'The path, the model or the version does not exist.',
    fix: 'Check the path against the OpenAPI document, or the model name against GET /v1/models.' },
  METHOD_NOT_ALLOWED: { cause: 'The path does not accept the method.',
    fix: 'Use a method of the Allow header.' },
  RECEIVE_TIMEOUT: { cause: 'The request was not received within the time limit.',
    fix: 'Send the complete request at once. Check the network and slow proxies.' },
  CONFLICT: { cause: 'The model is already registered.',
    fix: 'Unregister the model first, or register a new version.' },
  BODY_TOO_LARGE: { cause: 'The body is larger than BODY_LIMIT.',
    fix: 'Send fewer elements per request, or raise BODY_LIMIT.' },
  LIST_TOO_LONG: { cause: 'The list is longer than MAX_LIST_LENGTH.',
    fix: 'Send shorter lists, or raise MAX_LIST_LENGTH.' },
  STORAGE_FULL: { cause: 'The files or the unfinished batches in FILES_DIR have reached a limit.',
    fix: 'Delete files, wait for batches to end, or raise the limit that the message names.' },
  RESPONSE_TOO_LARGE: { cause: 'The response would be larger than RESPONSE_LIMIT.',
    fix: 'Send fewer elements per request, or raise RESPONSE_LIMIT.' },
  MEDIA_TYPE_UNSUPPORTED: { cause: 'The Content-Type or the Content-Encoding is not supported.',
    fix: 'Send "Content-Type: application/json", uncompressed or with gzip, deflate, br or zstd.' },
  BODY_INVALID: { cause: 'The body is not valid JSON, or a field is missing or invalid.',
    fix: 'Correct the field that the message names.' },
  INPUT_TOO_LONG: { cause: 'An input is longer than the model allows, and truncation is disabled.',
    fix: 'Shorten the text, allow truncation, or read it in windows (long_texts).' },
  UPGRADE_NEEDED: { cause: 'The request is not a WebSocket handshake.',
    fix: 'Open the path with a WebSocket client.' },
  HEADERS_TOO_LARGE: { cause: 'The request has too many headers, or its headers are too large.',
    fix: 'Send fewer headers. Check cookies and proxies.' },
  CANCELLED: { cause: 'The client closed the connection.',
    fix: 'Nothing to fix on the server. Check the timeout of the client.' },
  INFERENCE_FAILED: { cause: 'The model raised an error.',
    fix: 'Check the input and the model with libtorch-serve inspect.' },
  MODEL_NOT_LOADED: { cause: 'The model is not loaded.',
    fix: 'Read the load error in the log or in GET /info, and correct the model files.' },
  INTERNAL: { cause: 'An unexpected error occurred in the server.',
    fix: 'Search the log for the request id, and report the error.' },
  NOT_READY: { cause: 'The model is not ready.',
    fix: 'Wait for GET /ready, or read the load error in GET /info.' },
  CONNECTIONS_FULL: { cause: 'All connections of the server are in use.',
    fix: 'Reuse connections (keep-alive), or raise MAX_CONNECTIONS.' },
  BODY_MEMORY_FULL: { cause: 'The memory for request bodies is full (BODY_MEMORY).',
    fix: 'Retry after Retry-After, or raise BODY_MEMORY.' },
  DEADLINE_TOO_CLOSE: { cause: 'The expected queue wait exceeds the deadline.',
    fix: 'Allow a longer deadline (X-Request-Timeout-Ms), or add replicas or cores.' },
  DRAINING: { cause: 'The server is shutting down.',
    fix: 'Retry on another replica.' },
  PIPELINE_FULL: { cause: 'Too many pipelined requests on one connection.',
    fix: 'Wait for responses before sending further requests, or use more connections.' },
  QUEUE_FULL: { cause: 'The queue is full.',
    fix: 'Retry after Retry-After, add replicas or cores, or raise MAX_QUEUE_REQUESTS for short bursts.' },
  WAIT_TOO_LONG: { cause: 'The expected queue wait exceeds its limit.',
    fix: 'Retry after Retry-After, add replicas or cores, or raise MAX_QUEUE_WAIT_MS.' },
  DEADLINE_EXCEEDED: { cause: 'The deadline passed before the model ran.',
    fix: 'Add replicas or cores, or raise REQUEST_TIMEOUT_MS or X-Request-Timeout-Ms.' },
  INFERENCE_TIMEOUT: { cause: 'The model ran longer than its time limit.',
    fix: 'Correct the loop of the model, or raise INFERENCE_TIMEOUT_MS.' },
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
