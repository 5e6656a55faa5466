import { DOUBLE_JSON_BYTES, FLOAT_BYTES, jsonInTurns } from '../../../serving/json';
import type { ServiceResponse } from '../../../serving/request-context';
import type { OutputTensor } from '../../../tasks/tensors';
import { writeRaw } from '../contents';
import type { HttpInferRequest } from '../request-body';
import type { InferResult } from '../tensor-model';

interface Body {
  readonly bytes: Buffer;
  /** Size of the JSON before the binary outputs, in bytes; null: the body is only JSON. */
  readonly jsonBytes: number | null;
}

/** Returns the bytes per number of an output, by output name. */
export function numberBytes(request: HttpInferRequest): (output: string) => number {
  return (output) => (isBinary(output, request) ? FLOAT_BYTES : DOUBLE_JSON_BYTES);
}

/**
 * Creates the response of an inference request.
 *
 * @param limit maximum size of the JSON in bytes
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export async function inferResponse(
  model: { readonly name: string; readonly version: string },
  request: HttpInferRequest,
  { outputs, inferences }: InferResult,
  limit: number,
): Promise<ServiceResponse> {
  const { bytes, jsonBytes } = await write(model, request, { outputs, limit });
  const isJson = jsonBytes === null;
  return {
    body: bytes,
    inferences,
    headers: isJson
      ? { 'Content-Type': 'application/json; charset=utf-8' }
      : {
          'Content-Type': 'application/octet-stream',
          'Inference-Header-Content-Length': jsonBytes,
        },
    isCompressible: true,
  };
}

async function write(
  { name, version }: { readonly name: string; readonly version: string },
  request: HttpInferRequest,
  { outputs, limit }: { readonly outputs: readonly OutputTensor[]; readonly limit: number },
): Promise<Body> {
  const chunks: Buffer[] = [];
  const described = outputs.map((output) => {
    const { datatype, shape, values } = output;
    const head = { name: output.name, datatype, shape };
    if (!isBinary(output.name, request)) return { ...head, data: values };
    const chunk = writeRaw(output);
    chunks.push(chunk);
    return { ...head, parameters: { binary_data_size: chunk.length } };
  });
  const body = {
    ...(request.id !== '' && { id: request.id }),
    model_name: name,
    model_version: version,
    outputs: described,
  };
  const json = await jsonInTurns(body, limit);
  if (chunks.length === 0) return { bytes: json, jsonBytes: null };
  return { bytes: Buffer.concat([json, ...chunks]), jsonBytes: json.length };
}

function isBinary(name: string, { outputs, binaryOutputs }: HttpInferRequest): boolean {
  const requested = outputs?.find((output) => output.name === name);
  return requested?.binary ?? binaryOutputs;
}
