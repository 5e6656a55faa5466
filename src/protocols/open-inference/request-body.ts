import { z } from 'zod';
import { parseJson } from '../../serving/json';
import { UNDOCUMENTED } from '../openapi/responses';
import {
  boolean,
  boundedArray,
  describeFirstIssue,
  type ElementProblem,
  expected,
  object,
  string,
} from '../validation/fields';
import { type Contents, type InferRequest, invalid } from './tensor';

/**
 * Maximum numbers of tensors and axes, above those of all models. Limits the work of validation.
 */
const MOST_TENSORS = 16;
const MOST_AXES = 8;
const WHOLE_NUMBER = 'a whole number, at least 0';

/** Array whose elements are validated only up to a maximum length: zod reports every element. */
function few<Schema extends z.ZodType>(element: Schema, what: string, most: number) {
  const findProblem = (value: unknown): ElementProblem | null => {
    if (!Array.isArray(value)) return { message: expected(what)({ input: value }), path: [] };
    return value.length <= most ? null : { message: `expected at most ${most} elements`, path: [] };
  };
  return boundedArray(element, findProblem);
}

const wholeNumber = z.int({ error: expected(WHOLE_NUMBER) }).min(0, {
  error: expected(WHOLE_NUMBER),
});

/**
 * Field of an unsupported feature. A request that sets the field is rejected, not ignored. OpenAPI
 * omits the field.
 */
function refused(what: string) {
  return z
    .unknown()
    .refine((value) => !value, { error: `${what} not supported` })
    .optional()
    .meta(UNDOCUMENTED);
}

const sharedMemory = refused('shared memory is');
const sequences = refused('sequences are');

const input = object({
  name: string(),
  datatype: string(),
  shape: few(wholeNumber, 'an array of whole numbers', MOST_AXES),
  parameters: object({
    binary_data_size: wholeNumber.optional(),
    shared_memory_region: sharedMemory,
  }).optional(),
  data: z.unknown().optional(),
});

/** Selected output. */
export const outputBody = object({
  name: string(),
  parameters: object({
    binary_data: boolean().optional(),
    classification: wholeNumber.optional(),
    shared_memory_region: sharedMemory,
  }).optional(),
});

/**
 * JSON of an inference request. Unknown fields, unknown parameters and the priority are ignored.
 */
export const inferBody = object({
  id: string().optional(),
  parameters: object({
    timeout: wholeNumber.optional().describe('Deadline in microseconds; 0: the default'),
    binary_data_output: boolean().optional(),
    sequence_id: sequences,
    sequence_start: sequences,
    sequence_end: sequences,
  }).optional(),
  inputs: few(input, 'an array of tensors', MOST_TENSORS),
  outputs: few(outputBody, 'an array of outputs', MOST_TENSORS).optional(),
});

/** Inference request over HTTP. `binaryOutputs` is the default encoding of its outputs. */
export interface HttpInferRequest extends InferRequest {
  readonly binaryOutputs: boolean;
}

/**
 * Reads an inference request.
 *
 * @param header Inference-Header-Content-Length: size of the JSON in bytes, before the data of
 *   binary inputs
 * @throws ServiceError that names the invalid field
 */
export function readInferRequest(body: Buffer, header: string | undefined): HttpInferRequest {
  const jsonBytes = header === undefined ? body.length : jsonLength(header, body.length);
  const parsed = inferBody.safeParse(parseJson(body.subarray(0, jsonBytes)));
  if (!parsed.success) throw invalid(describeFirstIssue(parsed.error));
  const { id = '', parameters, inputs, outputs } = parsed.data;
  let rest = body.subarray(jsonBytes);
  const take = (length: number, path: string): Buffer => {
    if (length > rest.length) {
      throw invalid(`${path}: is ${length}, but ${rest.length} bytes of the body are left`);
    }
    const taken = rest.subarray(0, length);
    rest = rest.subarray(length);
    return taken;
  };
  const tensors = inputs.map(({ parameters: own, data, ...tensor }, index) => ({
    ...tensor,
    contents: contentsOf(take, `inputs[${index}]`, data, own?.binary_data_size),
  }));
  if (rest.length > 0) throw invalid(`body: ${rest.length} unexpected bytes after the input data`);
  const microseconds = parameters?.timeout ?? 0;
  return {
    id,
    timeoutMs: microseconds > 0 ? microseconds / 1000 : null,
    inputs: tensors,
    // Some clients send an empty list for "all outputs".
    outputs: outputs?.length
      ? outputs.map(({ name, parameters: own }) => ({
          name,
          classification: own?.classification ?? 0,
          binary: own?.binary_data ?? null,
        }))
      : null,
    binaryOutputs: parameters?.binary_data_output ?? false,
  };
}

/**
 * Returns the contents of an input.
 *
 * @param take reads the next bytes after the JSON
 */
function contentsOf(
  take: (length: number, path: string) => Buffer,
  path: string,
  data: unknown,
  binaryBytes: number | undefined,
): Contents {
  if (binaryBytes === undefined) {
    if (data === undefined) throw invalid(`${path}.data: is required`);
    return { form: 'json', data };
  }
  if (data !== undefined) {
    throw invalid(`${path}: expected data or parameters.binary_data_size, not both`);
  }
  return { form: 'raw', bytes: take(binaryBytes, `${path}.parameters.binary_data_size`) };
}

function jsonLength(header: string, most: number): number {
  const length = /^\d{1,15}$/.test(header) ? Number(header) : Number.NaN;
  if (length <= most) return length;
  throw invalid(
    `Inference-Header-Content-Length: expected a number of bytes, at most the ${most} of the body`,
  );
}
