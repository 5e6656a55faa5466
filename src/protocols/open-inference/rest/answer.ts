import type { Answer } from '../../../serving/exchange';
import type { OutputTensor } from '../../../tasks/tensors';
import { writeRaw } from '../contents';
import type { ModelAnswer } from '../model';
import type { HttpInferRequest } from '../request-body';

interface Body {
  readonly bytes: Buffer;
  /** Bytes of the JSON, before the data of binary outputs; null: it is all JSON. */
  readonly jsonBytes: number | null;
}

/** The answer to an inference request. */
export function describeInference(
  model: { readonly name: string; readonly version: string },
  request: HttpInferRequest,
  { outputs, inferences }: ModelAnswer,
): Answer {
  const { bytes, jsonBytes } = write(model, request, outputs);
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

function write(
  { name, version }: { readonly name: string; readonly version: string },
  request: HttpInferRequest,
  outputs: readonly OutputTensor[],
): Body {
  const chunks: Buffer[] = [];
  const described = outputs.map((output) => {
    const { datatype, shape, values } = output;
    const head = { name: output.name, datatype, shape };
    if (!isBinary(output, request)) return { ...head, data: Array.from<string | number>(values) };
    const chunk = writeRaw(output);
    chunks.push(chunk);
    return { ...head, parameters: { binary_data_size: chunk.length } };
  });
  const json = Buffer.from(
    JSON.stringify({
      ...(request.id !== '' && { id: request.id }),
      model_name: name,
      model_version: version,
      outputs: described,
    }),
  );
  if (chunks.length === 0) return { bytes: json, jsonBytes: null };
  return { bytes: Buffer.concat([json, ...chunks]), jsonBytes: json.length };
}

function isBinary({ name }: OutputTensor, { outputs, binaryOutputs }: HttpInferRequest): boolean {
  const requested = outputs?.find((output) => output.name === name);
  return requested?.binary ?? binaryOutputs;
}
