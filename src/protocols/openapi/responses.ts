import { z } from 'zod';

/** A node of an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** Metadata of fields that the document omits. */
export const UNDOCUMENTED = { undocumented: true };

/** JSON Schema of the input of a zod schema: fields with a default value are optional. */
export function toSchema(schema: z.ZodType): Node {
  const { $schema, ...node } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema: { properties = {} } }) => {
      for (const [name, field] of Object.entries(properties)) {
        if (typeof field === 'object' && field.undocumented) delete properties[name];
      }
    },
  });
  return node;
}

/** Properties of an object schema. */
export function propertiesOf(schema: Node): Readonly<Record<string, Node>> {
  return (schema.properties ?? {}) as Readonly<Record<string, Node>>;
}

/** Adds properties to an object schema, or replaces them. */
export function withProperties(schema: Node, more: Readonly<Record<string, Node>>): Node {
  return { ...schema, properties: { ...propertiesOf(schema), ...more } };
}

/** Header parameter of all requests with a body. */
export const TIMEOUT_PARAMETER: Node = {
  name: 'X-Request-Timeout-Ms',
  in: 'header',
  description:
    'Deadline in ms: maximum time from the arrival of the request until the model runs. Default and maximum: REQUEST_TIMEOUT_MS.',
  schema: { type: 'integer', minimum: 1 },
};

export function schemaReference(name: string): Node {
  return { $ref: `#/components/schemas/${name}` };
}

const REQUEST_ID = {
  'X-Request-Id': {
    description:
      'Request ID of the client, if it has at most 128 letters, digits, ".", "_" and "-"; else a new ID',
    schema: { type: 'string' },
  },
};

const MILLISECONDS = { schema: { type: 'number', minimum: 0 } };

/** Timing headers; absent if no model ran, as for an empty list. */
export const ANALYSIS_HEADERS: Node = {
  'X-Queue-Time': { description: 'Longest queue wait in ms', ...MILLISECONDS },
  'X-Inference-Time': { description: 'Longest model run in ms', ...MILLISECONDS },
  'X-Tokenization-Time': { description: 'Longest tokenization in ms', ...MILLISECONDS },
  'X-Compute-Tokens': {
    description: 'Number of tokens; for signals the number of signals',
    schema: { type: 'integer', minimum: 0 },
  },
};

export const TRUNCATED_HEADER: Node = {
  'X-Input-Truncated': {
    description: 'A text was truncated to the maximum input length of the model',
    schema: { const: 'true' },
  },
};

export const ERROR_CODE: Node = { description: 'Error code, see docs/reference/errors.md' };

export const RETRY_AFTER: Node = {
  'Retry-After': {
    description: 'Seconds; absent if a retry cannot succeed',
    schema: { type: 'integer', minimum: 0 },
  },
};

/** A response object with the headers of all responses. */
export function response(description: string, content?: Node, headers: Node = {}): Node {
  return { description, headers: { ...REQUEST_ID, ...headers }, ...(content && { content }) };
}

/** Content of a body. @param schema name of its schema in the document */
export function jsonContent(
  schema: string,
  example?: unknown,
  mediaType = 'application/json',
): Node {
  const described = { schema: schemaReference(schema), ...(example !== undefined && { example }) };
  return { [mediaType]: described };
}
