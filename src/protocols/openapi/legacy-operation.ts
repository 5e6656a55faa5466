import { z } from 'zod';
import type { ErrorCode } from '../../serving/errors';
import {
  ANALYSIS_HEADERS,
  jsonContent,
  type Node,
  response,
  schemaReference,
  TIMEOUT_PARAMETER,
  toSchema,
} from './responses';

/** What a route takes or answers, under its name in the document. */
export interface Named {
  readonly name: string;
  readonly schema: z.ZodType | Node;
  readonly example?: unknown;
}

/** An answer but 200: what it means, and what it looks like. */
export interface Failure {
  readonly description: string;
  readonly example?: unknown;
  readonly headers?: Node;
}

/** What an analysis route may answer but 200, where its protocol says nothing else. */
export const ANALYSIS_ERRORS = {
  400: 'The model cannot be asked this.',
  413: 'The body is over BODY_LIMIT, the list over MAX_LIST_LENGTH, or the response would be over RESPONSE_LIMIT.',
  415: 'The Content-Type is not JSON, or the Content-Encoding is unknown.',
  422: 'The body is not JSON, or a field is missing or of the wrong type.',
  500: 'The model is not loaded, or raised an error, whose message this is.',
  503: 'The queue is full, its wait would be too long, or the service is shutting down.',
  504: 'The deadline passed before the model ran, or the model ran longer than it may.',
};

/** What the document says of a route: POST where it takes a body, and that runs the model, else GET. */
export interface LegacyOperation {
  /** Unique in the document. */
  readonly id: string;
  /** Under which it is listed, if not that of its protocol. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly request?: Named;
  readonly answer: Named;
  /** In which case it is the answer, where that is not plain; null: it never is. */
  readonly outcome?: string | null;
  /** Of the answer, beside those of all answers. */
  readonly headers?: Node;
  /** The connection becomes a WebSocket: `answer` is the first message there, not that of HTTP. */
  readonly isUpgrade?: boolean;
  /** The answer goes on, as server-sent events of which `answer` is the first. */
  readonly isEvents?: boolean;
  /** Bodies may be bytes, too, both ways. */
  readonly isBinary?: boolean;
  readonly errors: Readonly<Record<number, string | Failure>>;
}

/** Whose route it is. */
export interface Speaker {
  readonly tag: { readonly name: string };
  /** In which its errors are told. */
  readonly error: Named;
  /** Statuses of its errors. */
  readonly errors: { status(code: ErrorCode): number };
}

/** What every operation with a body may answer, whatever it says of itself. */
const OF_EVERY_BODY = {
  REQUEST_INVALID: 'X-Request-Timeout-Ms is no whole number of milliseconds.',
  BODY_TOO_LARGE: 'The body is over BODY_LIMIT.',
  MEDIA_TYPE_UNSUPPORTED: 'The Content-Encoding is unknown.',
  DRAINING: 'The service is shutting down.',
} as const satisfies Partial<Record<ErrorCode, string>>;

export function describeLegacyOperation(
  operation: LegacyOperation,
  { tag, error, errors: shape }: Speaker,
): Node {
  const { id, summary, description, request, answer, isBinary } = operation;
  const common = Object.entries(OF_EVERY_BODY).map(([code, what]) => [
    shape.status(code as ErrorCode),
    what,
  ]);
  const errors: LegacyOperation['errors'] = {
    ...(request && Object.fromEntries(common)),
    ...operation.errors,
  };
  const { outcome = request ? 'The answer of the model.' : 'As it is.' } = operation;
  const failures = Object.entries(errors).map(([status, failure]) => {
    const told: Failure = typeof failure === 'string' ? { description: failure } : failure;
    return [
      status,
      response(told.description, jsonContent(error.name, told.example), told.headers),
    ];
  });
  const content = ({ name, example }: Named): Node => ({
    ...jsonContent(name, example),
    ...(isBinary && { 'application/octet-stream': { schema: BYTES } }),
  });
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [operation.tag ?? tag.name],
    ...(request && {
      parameters: [TIMEOUT_PARAMETER],
      requestBody: { required: true, content: content(request) },
    }),
    responses: {
      ...(outcome !== null && describeOutcome(operation, outcome, content(answer))),
      ...Object.fromEntries(failures),
    },
  };
}

function describeOutcome(
  { request, answer, headers, isUpgrade, isEvents }: LegacyOperation,
  outcome: string,
  content: Node,
): Node {
  if (isUpgrade) return { 101: response(outcome) };
  if (isEvents) {
    return {
      200: response(outcome, { 'text/event-stream': { schema: schemaReference(answer.name) } }),
    };
  }
  return { 200: response(outcome, content, { ...(request && ANALYSIS_HEADERS), ...headers }) };
}

const BYTES = { type: 'string', format: 'binary' };

/** Of what a route takes and answers, by name. */
export function legacySchemasOf({ request, answer }: LegacyOperation, { error }: Speaker): Node {
  const named = [...(request ? [request] : []), answer, error];
  return Object.fromEntries(named.map(({ name, schema }) => [name, nodeOf(schema)]));
}

function nodeOf(schema: z.ZodType | Node): Node {
  return schema instanceof z.ZodType ? toSchema(schema) : schema;
}
