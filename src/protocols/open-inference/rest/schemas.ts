import { z } from 'zod';
import { type Node, propertiesOf, toSchema, withProperties } from '../../openapi/responses';
import { inferBody, outputBody } from '../request-body';
import type { InputSpecification } from '../tensor';
import type { TensorModel } from '../tensor-model';

/** Inputs of the examples: a text, and the sum of two sine waves. */
const TEXT = 'A warm, funny film that never outstays its welcome.';
const wave = (i: number): number =>
  Number((20 * Math.sin(i / 1.5) + 5 * Math.sin(i / 7)).toFixed(2));

const text = z.string();
const count = z.int().min(0);
const integer = z.unknown().meta({ type: 'integer' });
const always = z.unknown().meta({ const: true });
const tensor = z.object({ name: text, datatype: text, shape: z.array(integer) });
const configured = z.object({ name: text, data_type: text, dims: z.array(integer) });
const duration = z.object({ count, ns: count });

export const errorResponse = z.object({
  error: text.describe('Position and problem, in one line'),
});

/** Responses of GET routes. */
export const RESPONSES = {
  Server: z.object({ name: text, version: text, extensions: z.array(text) }),
  Live: z.object({ live: always }),
  Ready: z.object({ ready: always }),
  ModelReady: z.object({ name: text, ready: always }),
  ModelMetadata: z.object({
    name: text,
    versions: z.array(text),
    platform: text,
    inputs: z.array(tensor),
    outputs: z.array(tensor),
  }),
  ModelConfig: z.object({
    name: text,
    platform: text,
    backend: text,
    max_batch_size: count,
    input: z.array(configured),
    output: z.array(configured),
  }),
  Statistics: z.object({
    model_stats: z.array(
      z.object({
        name: text,
        version: text,
        last_inference: count.describe('Unix time in ms; 0: no inference yet'),
        inference_count: count.describe('Texts or windows, over all routes'),
        execution_count: count.describe('Batches'),
        inference_stats: z.object({
          success: duration,
          fail: duration,
          queue: duration,
          compute_input: duration,
          compute_infer: duration,
          compute_output: duration,
        }),
        batch_stats: z.array(z.object({ batch_size: count, compute_infer: duration })),
      }),
    ),
  }),
};

export const inferResponseSchema = z.object({
  id: text.optional().describe('Id of the request'),
  model_name: text,
  model_version: text,
  outputs: z.array(
    z.object({
      name: text,
      datatype: z.unknown().meta({ enum: ['BYTES', 'FP32', 'UINT32'] }),
      shape: z.array(count),
      data: z
        .array(z.unknown().meta({ type: ['string', 'number'] }))
        .optional()
        .describe('Row-major'),
      parameters: z.object({ binary_data_size: count }).optional(),
    }),
  ),
});

/** Schema of the JSON of a request. It does not describe how shapes and data depend on each other. */
export function inferRequestSchema(model: TensorModel | null): Node {
  const inputs = model?.inputs ?? [];
  return withProperties(toSchema(inferBody), {
    inputs: {
      type: 'array',
      items: { anyOf: inputs.map(describeInput) },
      minItems: inputs.filter(({ optional }) => !optional).length,
      maxItems: inputs.length,
    },
    outputs: { type: 'array', items: describeOutput(model), maxItems: model?.outputs.length },
  });
}

function describeOutput(model: TensorModel | null): Node {
  const schema = toSchema(outputBody);
  const { name, parameters } = propertiesOf(schema) as { readonly [name: string]: Node };
  const description = `Number of highest values of ${model?.classified?.name} to return, as "value:index:label"`;
  const classification = { ...toSchema(count), description };
  return withProperties(schema, {
    name: model ? { enum: model.outputs.map((output) => output.name) } : (name as Node),
    parameters: withProperties(parameters as Node, { classification }),
  });
}

function describeInput({ metadata: { name }, datatypes }: InputSpecification): Node {
  const element = datatypes.includes('BYTES') ? { type: 'string' } : { type: 'number' };
  const data = {
    type: 'array',
    items: { anyOf: [element, { type: 'array' }] },
    description: 'Row-major; flat, or nested according to the shape',
  };
  const shape = toSchema(z.array(count).min(1).max(3));
  const properties = { name: { const: name }, datatype: { enum: datatypes }, shape, data };
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** A valid request for the model. */
export function exampleOf(model: TensorModel): Node {
  const [input] = model.inputs as [InputSpecification];
  const { name, datatype, shape } = input.metadata;
  const length = shape[1] ?? 1;
  const data = datatype === 'BYTES' ? [TEXT] : Array.from({ length }, (_, i) => wave(i));
  return {
    id: '42',
    inputs: [{ name, datatype, shape: [1, ...shape.slice(1)], data }],
  };
}
