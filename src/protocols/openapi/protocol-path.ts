import {
  ANALYSIS_HEADERS,
  jsonResponse,
  type Node,
  schemaReference,
  TIMEOUT_PARAMETER,
  TRUNCATED_HEADER,
} from './responses';

export interface ProtocolRoute {
  /** Unique in the document. */
  readonly id: string;
  readonly summary: string;
  /** Name of the protocol's tag. */
  readonly tag: string;
  /** Names of schemas. */
  readonly request: string;
  readonly answer: string;
  readonly error: string;
  readonly example: { readonly request: unknown; readonly answer: unknown };
  /** What each status but 200 means. */
  readonly errors: Readonly<Record<number, string>>;
}

/** A POST route by which a protocol runs the text model, with errors in its own form. */
export function protocolPath(route: ProtocolRoute): Node {
  const { id, summary, tag, request, answer, error, example, errors } = route;
  return {
    post: {
      operationId: id,
      summary,
      tags: [tag],
      parameters: [TIMEOUT_PARAMETER],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: schemaReference(request), example: example.request },
        },
      },
      responses: {
        200: jsonResponse({
          description: 'The answer of the model.',
          schema: answer,
          example: example.answer,
          headers: { ...ANALYSIS_HEADERS, ...TRUNCATED_HEADER },
        }),
        ...Object.fromEntries(
          Object.entries(errors).map(([status, description]) => [
            status,
            jsonResponse({ description, schema: error }),
          ]),
        ),
      },
    },
  };
}
