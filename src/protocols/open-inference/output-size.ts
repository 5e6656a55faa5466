import { FLOAT_BYTES, SCORE_JSON_BYTES } from '../../serving/json';
import { countOf, type RequestedOutput, type TensorMetadata } from './tensor';

/** Outputs of a response and their encoding. */
interface Selected {
  /** All outputs of the model. */
  readonly outputs: readonly TensorMetadata[];
  /** Selected outputs; null: all. */
  readonly requested: readonly RequestedOutput[] | null;
  /** Bytes per number of an output. */
  readonly numberBytes: (output: string) => number;
}

/** Returns the response bytes per index of the first output axis. */
export function rowBytes({ outputs, requested, numberBytes }: Selected): number {
  const selected = outputs.map(({ name, datatype, shape }) => {
    const own = requested?.find((one) => one.name === name);
    if (requested && !own) return 0;
    const columns = countOf(shape.slice(1));
    if (own && own.classification > 0) {
      return Math.min(own.classification, columns) * SCORE_JSON_BYTES;
    }
    return columns * (datatype === 'BYTES' ? SCORE_JSON_BYTES : numberBytes(name));
  });
  return selected.reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Returns `InferOptions.maxOutputs` for models with one output row per token. The engine always
 * computes the first output, even if the request does not select it.
 */
export function maxTokenOutputs(selected: Selected, limit: number): number {
  const columns = countOf(selected.outputs[0]?.shape.slice(1) ?? []);
  const bytes = Math.max(rowBytes(selected), columns * FLOAT_BYTES);
  return Math.max(columns, Math.floor(limit / bytes) * columns);
}
