import type { Node } from '../../openapi/responses';
import type { Model } from '../model';
import type { InputSpecification } from '../tensor';

/** A text, or two sine waves, no recording of anybody. */
const TEXT = 'A warm, funny film that never outstays its welcome.';
const wave = (i: number): number =>
  Number((20 * Math.sin(i / 1.5) + 5 * Math.sin(i / 7)).toFixed(2));

const STRING = { type: 'string' };
const BOOLEAN = { type: 'boolean' };
const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

function object(properties: Node, optional: readonly string[] = []): Node {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function list(items: Node, limits: Node = {}): Node {
  return { type: 'array', items, ...limits };
}

const TENSOR = object({ name: STRING, datatype: STRING, shape: list({ type: 'integer' }) });

const DURATION = object({ count: COUNT, ns: COUNT });

export const ERROR = object({
  error: { ...STRING, description: 'One line: what is wrong, and where' },
});

/** By name, of everything that is asked for by GET. */
export const ANSWERS: Node = {
  V2Server: object({ name: STRING, version: STRING, extensions: list(STRING) }),
  V2Live: object({ live: { const: true } }),
  V2Ready: object({ ready: { const: true } }),
  V2ModelReady: object({ name: STRING, ready: { const: true } }),
  V2ModelMetadata: object({
    name: STRING,
    versions: list(STRING),
    platform: STRING,
    inputs: list(TENSOR),
    outputs: list(TENSOR),
  }),
  V2ModelConfig: object({
    name: STRING,
    platform: STRING,
    backend: STRING,
    max_batch_size: COUNT,
    input: list(object({ name: STRING, data_type: STRING, dims: list({ type: 'integer' }) })),
    output: list(object({ name: STRING, data_type: STRING, dims: list({ type: 'integer' }) })),
  }),
  V2Statistics: object({
    model_stats: list(
      object({
        name: STRING,
        version: STRING,
        last_inference: { ...COUNT, description: 'ms since the Unix epoch; 0: none yet' },
        inference_count: { ...COUNT, description: 'Texts or windows, of all routes' },
        execution_count: { ...COUNT, description: 'Runs of the model' },
        inference_stats: object({
          success: DURATION,
          fail: DURATION,
          queue: DURATION,
          compute_input: DURATION,
          compute_infer: DURATION,
          compute_output: DURATION,
        }),
        batch_stats: list(object({ batch_size: COUNT, compute_infer: DURATION })),
      }),
    ),
  }),
};

export const INFER_ANSWER = object(
  {
    id: { ...STRING, description: 'As it was sent' },
    model_name: STRING,
    model_version: STRING,
    outputs: list(
      object(
        {
          name: STRING,
          datatype: { enum: ['BYTES', 'FP32'] },
          shape: list(COUNT),
          data: list({ type: ['string', 'number'] }, { description: 'Row-major' }),
          parameters: object({ binary_data_size: COUNT }),
        },
        ['data', 'parameters'],
      ),
    ),
  },
  ['id'],
);

/** Of JSON alone. What shapes and data have to do with each other cannot be said here. */
export function inferRequest(model: Model | null): Node {
  const inputs = model?.inputs ?? [];
  const names = model?.outputs.map(({ name }) => name);
  return object(
    {
      id: STRING,
      parameters: object(
        {
          timeout: { ...COUNT, description: 'The deadline, in microseconds; 0: the usual one' },
          binary_data_output: BOOLEAN,
        },
        ['timeout', 'binary_data_output'],
      ),
      inputs: list(
        { anyOf: inputs.map(describeInput) },
        { minItems: inputs.filter(({ optional }) => !optional).length, maxItems: inputs.length },
      ),
      outputs: list(
        object(
          {
            name: names ? { enum: names } : STRING,
            parameters: object(
              {
                binary_data: BOOLEAN,
                classification: {
                  ...COUNT,
                  description: `Of ${model?.classified}: how many of the highest values, as "value:index:label"`,
                },
              },
              ['binary_data', 'classification'],
            ),
          },
          ['parameters'],
        ),
        { maxItems: names?.length },
      ),
    },
    ['id', 'parameters', 'outputs'],
  );
}

function describeInput({ metadata: { name }, datatypes }: InputSpecification): Node {
  const element = datatypes.includes('BYTES') ? STRING : { type: 'number' };
  return object({
    name: { const: name },
    datatype: { enum: datatypes },
    shape: list(COUNT, { minItems: 1, maxItems: 3 }),
    data: list(
      { anyOf: [element, { type: 'array' }] },
      { description: 'Row-major; flat, or nested as the shape says' },
    ),
  });
}

/** A request that the model answers. */
export function exampleOf(model: Model): Node {
  const [input] = model.inputs as [InputSpecification];
  const { name, datatype, shape } = input.metadata;
  const length = shape[1] ?? 1;
  const data = datatype === 'BYTES' ? [TEXT] : Array.from({ length }, (_, i) => wave(i));
  return {
    id: '42',
    inputs: [{ name, datatype, shape: [1, ...shape.slice(1)], data }],
  };
}
