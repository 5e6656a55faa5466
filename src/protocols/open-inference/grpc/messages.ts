import type { OutputTensor } from '../../../tasks/tensors';
import { writeRaw } from '../contents';
import {
  type Contents,
  type InferRequest,
  type InputTensor,
  invalid,
  type RequestedOutput,
} from '../tensor';
import type { InferResult } from '../tensor-model';

/**
 * Messages of protos/grpc_service.proto, as @grpc/proto-loader decodes them. Unused fields are
 * omitted.
 */

type Parameters = Readonly<
  Record<
    string,
    {
      readonly bool_param?: boolean;
      readonly int64_param?: number;
      readonly uint64_param?: number;
      readonly string_param?: string;
    }
  >
>;

interface TypedContents {
  readonly uint_contents?: readonly number[];
  readonly fp32_contents: readonly number[];
  readonly fp64_contents: readonly number[];
  readonly bytes_contents: readonly Buffer[];
}

export interface ModelInferRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: Parameters;
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly parameters: Parameters;
    readonly contents: TypedContents | null;
  }[];
  readonly outputs: readonly { readonly name: string; readonly parameters: Parameters }[];
  readonly raw_input_contents: readonly Buffer[];
}

/**
 * Converts a message to an inference request.
 *
 * @throws ServiceError that names the invalid field
 */
export function readInferRequest(message: ModelInferRequest): InferRequest {
  for (const name of ['sequence_id', 'sequence_start', 'sequence_end']) {
    if (parameterOf(message.parameters, name))
      throw invalid(`parameters.${name}: sequences are not supported`);
  }
  const microseconds = wholeNumber(message.parameters, 'timeout', 'parameters');
  return {
    id: message.id,
    timeoutMs: microseconds > 0 ? microseconds / 1000 : null,
    inputs: readInputs(message),
    outputs: message.outputs.length > 0 ? message.outputs.map(readOutput) : null,
  };
}

/** Creates the response message. Its contents are raw if the request's contents were raw. */
export function writeInferResponse(
  { id, raw_input_contents }: ModelInferRequest,
  model: { readonly name: string; readonly version: string },
  { outputs }: InferResult,
): object {
  const isRaw = raw_input_contents.length > 0;
  return {
    model_name: model.name,
    model_version: model.version,
    id,
    outputs: outputs.map((output) => {
      const { name, datatype, shape } = output;
      return { name, datatype, shape, ...(!isRaw && { contents: typedContents(output) }) };
    }),
    ...(isRaw && { raw_output_contents: outputs.map(writeRaw) }),
  };
}

function readInputs({ inputs, raw_input_contents: raw }: ModelInferRequest): InputTensor[] {
  if (raw.length > 0 && raw.length !== inputs.length) {
    throw invalid(
      `raw_input_contents: expected one element for each of the ${inputs.length} inputs, or none`,
    );
  }
  return inputs.map(({ name, datatype, shape, parameters, contents }, index) => {
    const path = `inputs[${index}]`;
    refuseSharedMemory(parameters, path);
    if (raw.length > 0 && contents) {
      throw invalid(`${path}.contents: expected none beside raw_input_contents`);
    }
    const bytes = raw[index];
    const given: Contents = bytes
      ? { form: 'raw', bytes }
      : { form: 'typed', values: contents ? valuesOf(contents, datatype) : [] };
    return { name, datatype, shape, contents: given };
  });
}

/** Returns the typed values. The model rejects other data types later. */
function valuesOf(contents: TypedContents, datatype: string): readonly (Buffer | number)[] {
  if (datatype === 'FP64') return contents.fp64_contents;
  return datatype === 'FP32' ? contents.fp32_contents : contents.bytes_contents;
}

function readOutput(
  { name, parameters }: ModelInferRequest['outputs'][number],
  index: number,
): RequestedOutput {
  const path = `outputs[${index}]`;
  refuseSharedMemory(parameters, path);
  const classification = wholeNumber(parameters, 'classification', `${path}.parameters`);
  return { name, classification, binary: null };
}

function typedContents(output: OutputTensor): Partial<TypedContents> {
  if (output.datatype === 'FP32') return { fp32_contents: Array.from(output.values) };
  if (output.datatype === 'UINT32') return { uint_contents: Array.from(output.values) };
  return { bytes_contents: output.values.map((text) => Buffer.from(text)) };
}

function parameterOf(parameters: Parameters, name: string): unknown {
  if (!Object.hasOwn(parameters, name)) return undefined;
  const { bool_param, int64_param, uint64_param, string_param } = parameters[name] ?? {};
  return bool_param ?? int64_param ?? uint64_param ?? string_param;
}

/** Returns an integer parameter; 0 if missing. */
function wholeNumber(parameters: Parameters, name: string, path: string): number {
  const value = parameterOf(parameters, name) ?? 0;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw invalid(`${path}.${name}: expected a whole number, at least 0`);
}

function refuseSharedMemory(parameters: Parameters, path: string): void {
  const name = 'shared_memory_region';
  if (parameterOf(parameters, name) === undefined) return;
  throw invalid(`${path}.parameters.${name}: shared memory is not supported`);
}
