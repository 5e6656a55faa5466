import { FLOAT_BYTES, SCORE_JSON_BYTES } from '../../serving/json';
import { countOf, type RequestedOutput, type TensorMetadata } from './tensor';

/** Which outputs a response has, and how. */
interface Selected {
  /** Of the model. */
  readonly outputs: readonly TensorMetadata[];
  /** null: all. */
  readonly requested: readonly RequestedOutput[] | null;
  /** Of a number of an output. */
  readonly numberBytes: (output: string) => number;
}

/** Bytes of the response for each place of the outputs' first axis. */
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
 * See `InferOptions.maxOutputs`: numbers of a model whose outputs have a row for each token. The first output
 * is what the engine computes, whether it is asked for or not.
 */
export function maxTokenOutputs(selected: Selected, limit: number): number {
  const columns = countOf(selected.outputs[0]?.shape.slice(1) ?? []);
  const bytes = Math.max(rowBytes(selected), columns * FLOAT_BYTES);
  return Math.max(columns, Math.floor(limit / bytes) * columns);
}
