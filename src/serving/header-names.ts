/**
 * Request headers that the service or a protocol reads; CORS allows them. The type of `RequestContext.header` accepts no
 * other name, which keeps the list complete.
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
  'X-TypeSafe-SDK',
] as const;

/** gRPC metadata that a protocol reads. */
type MetadataName = 'triton_grpc_error';

/** Lower-case header name, as in Node's `request.headers`. */
export type RequestHeader = Lowercase<(typeof REQUEST_HEADERS)[number]> | MetadataName;

/**
 * Response headers that the service or a protocol sets; CORS exposes them. Headers that every page can read are not
 * listed (Fetch standard, "CORS-safelisted response-header name").
 */
export const RESPONSE_HEADERS = [
  'Allow',
  'Inference-Header-Content-Length',
  'Retry-After',
  'WWW-Authenticate',
  'X-Compute-Characters',
  'X-Compute-Time',
  'X-Compute-Tokens',
  'X-Compute-Type',
  'X-Error-Code',
  'X-Inference-Time',
  'X-Input-Truncated',
  'X-Queue-Time',
  'X-Request-Id',
  'X-Tokenization-Time',
  'X-Total-Time',
  'X-TypeSafe-Request-Id',
] as const;

export type ResponseHeader = (typeof RESPONSE_HEADERS)[number] | 'Content-Type';
