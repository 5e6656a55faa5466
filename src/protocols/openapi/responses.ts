import { z } from 'zod';

/** A node of an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** As a client writes it: what has a default may be left out. */
export function toSchema(schema: z.ZodType): Node {
  const { $schema, ...node } = z.toJSONSchema(schema, { io: 'input' });
  return node;
}

export const TIMEOUT_PARAMETER: Node = {
  name: 'X-Request-Timeout-Ms',
  in: 'header',
  description:
    'The deadline: how long after its arrival, in ms, the model may begin with it. At most REQUEST_TIMEOUT_MS, which is the default.',
  schema: { type: 'integer', minimum: 1 },
};

export function schemaReference(name: string): Node {
  return { $ref: `#/components/schemas/${name}` };
}

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'The one that was sent, where it is up to 128 letters, digits, ., _ and -',
    schema: { type: 'string' },
  },
};

const MILLISECONDS = { schema: { type: 'number', minimum: 0 } };

/** Absent where nothing ran, that is for an empty list. */
export const ANALYSIS_HEADERS: Node = {
  'X-Queue-Time': { description: 'Longest wait for the model, ms', ...MILLISECONDS },
  'X-Inference-Time': { description: 'Longest run of the model, ms', ...MILLISECONDS },
  'X-Tokenization-Time': { description: 'Longest tokenization, ms', ...MILLISECONDS },
  'X-Compute-Tokens': {
    description: 'Tokens the model read; of signals, their number',
    schema: { type: 'integer', minimum: 0 },
  },
};

export const TRUNCATED_HEADER: Node = {
  'X-Input-Truncated': {
    description: 'A text was longer than the model takes, and was cut',
    schema: { const: 'true' },
  },
};

const RETRY_AFTER: Node = {
  'Retry-After': {
    description: 'Seconds; absent where waiting does not help',
    schema: { type: 'integer', minimum: 0 },
  },
};

export interface JsonResponse {
  readonly description: string;
  readonly schema: string;
  readonly example?: unknown;
  readonly headers?: Node;
}

export function jsonResponse({ description, schema, example, headers }: JsonResponse): Node {
  return {
    description,
    headers: { ...REQUEST_ID, ...headers },
    content: {
      'application/json': {
        schema: schemaReference(schema),
        ...(example !== undefined && { example }),
      },
    },
  };
}

/** Something for people or for tools, which is not described further. */
export function textResponse(description: string, mediaType: string): Node {
  return {
    description,
    headers: REQUEST_ID,
    content: { [mediaType]: { schema: { type: 'string' } } },
  };
}

export function emptyResponse(description: string): Node {
  return { description, headers: REQUEST_ID };
}

export function errorResponse(description: string, detail: string, headers: Node = {}): Node {
  return jsonResponse({ description, schema: 'Error', example: { detail }, headers });
}

/** What any analysis route may answer but 200 and 400. `field`: of its body, for the examples. */
export function analysisErrors(field: string, limits: { body: number; timeout: number }): Node {
  return {
    413: errorResponse(
      'The body is over BODY_LIMIT, or the list over MAX_LIST_LENGTH.',
      `The body is over the limit of ${limits.body} bytes.`,
    ),
    415: errorResponse(
      'The Content-Type is not JSON, or the Content-Encoding is unknown.',
      'The Content-Type must be application/json.',
    ),
    422: errorResponse(
      'The body is not JSON, or a field is missing or of the wrong type.',
      `${field}: is required`,
    ),
    500: errorResponse(
      'The model is not loaded, or raised an error, whose message this is.',
      'Model is not loaded.',
    ),
    503: errorResponse(
      'The queue is full, its wait would be too long, or the service is shutting down.',
      'The wait in the queue would be about 1240 ms, over the limit of 1000 ms.',
      RETRY_AFTER,
    ),
    504: errorResponse(
      'The deadline passed before the model ran, or the model ran longer than it may.',
      `The deadline of ${limits.timeout} ms passed before the model ran.`,
    ),
  };
}

export const NOT_READY: Node = errorResponse(
  'The model is not loaded or has not come back, or the service is shutting down.',
  'The service is shutting down.',
  RETRY_AFTER,
);
