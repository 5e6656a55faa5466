import { z } from 'zod';

/** A node of an OpenAPI document. */
export type Node = Readonly<Record<string, unknown>>;

/** Metadata of a field that the document leaves out. */
export const UNDOCUMENTED = { undocumented: true };

/** As a client writes it: what has a default may be left out. */
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

export function propertiesOf(schema: Node): Readonly<Record<string, Node>> {
  return schema.properties as Readonly<Record<string, Node>>;
}

/** Replaces what depends on the model and the settings. */
export function withProperties(schema: Node, more: Readonly<Record<string, Node>>): Node {
  return { ...schema, properties: { ...propertiesOf(schema), ...more } };
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

export const RETRY_AFTER: Node = {
  'Retry-After': {
    description: 'Seconds; absent where waiting does not help',
    schema: { type: 'integer', minimum: 0 },
  },
};

/** Of any answer. */
export function response(description: string, content?: Node, headers: Node = {}): Node {
  return { description, headers: { ...REQUEST_ID, ...headers }, ...(content && { content }) };
}

/** Content in JSON. @param schema its name */
export function jsonContent(schema: string, example?: unknown): Node {
  const described = { schema: schemaReference(schema), ...(example !== undefined && { example }) };
  return { 'application/json': described };
}
