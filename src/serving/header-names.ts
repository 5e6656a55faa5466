/**
 * Request headers that the service or one of its protocols reads. `Exchange.header` accepts no other name, so
 * that this list, from which CORS derives what pages may send, is complete.
 */
export const REQUEST_HEADERS = [
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Inference-Header-Content-Length',
  'Traceparent',
  'Tracestate',
  'X-Request-Id',
  'X-Request-Timeout-Ms',
] as const;

/** gRPC metadata that a protocol reads. No page sends it. */
type MetadataName = 'triton_grpc_error';

/** In lower case, as Node has names of headers. */
export type RequestHeader = Lowercase<(typeof REQUEST_HEADERS)[number]> | MetadataName;

/**
 * Response headers that the service or one of its protocols sets, except those that every page may read
 * (Fetch standard, "CORS-safelisted response-header name"). `Answer.headers` accepts no other name.
 */
export const RESPONSE_HEADERS = [
  'Allow',
  'Inference-Header-Content-Length',
  'Retry-After',
  'WWW-Authenticate',
  'X-Compute-Time',
  'X-Compute-Tokens',
  'X-Compute-Type',
  'X-Inference-Time',
  'X-Input-Truncated',
  'X-Queue-Time',
  'X-Request-Id',
  'X-Tokenization-Time',
  'X-Total-Time',
] as const;

export type ResponseHeader = (typeof RESPONSE_HEADERS)[number] | 'Content-Type';
