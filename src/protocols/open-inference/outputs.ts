import type { ClassifiedOutput, OutputTensor } from '../../tasks/tensors';
import { invalid, type RequestedOutput, type TensorMetadata } from './tensor';

/** Outputs of a model. */
interface Outputs {
  readonly outputs: readonly TensorMetadata[];
  /** Output that supports the classification extension; null: no such output. */
  readonly classified: ClassifiedOutput | null;
}

/**
 * Validates the selected outputs before inference.
 *
 * @throws ServiceError if an output is unknown, duplicate, or does not support classification
 */
export function requireKnownOutputs(
  requested: readonly RequestedOutput[] | null,
  { outputs, classified }: Outputs,
): void {
  const names = outputs.map(({ name }) => name);
  const seen = new Set<string>();
  for (const [index, { name, classification }] of (requested ?? []).entries()) {
    const path = `outputs[${index}]`;
    if (!names.includes(name)) throw invalid(`${path}.name: expected ${names.join(', ')}`);
    if (seen.has(name)) throw invalid(`${path}.name: is asked for twice`);
    if (classification > 0 && name !== classified?.name) {
      const what = classified ? `is for ${classified.name} only` : 'the model has no labels';
      throw invalid(`${path}.parameters.classification: ${what}`);
    }
    seen.add(name);
  }
}

/** Returns the selected outputs in request order, or all outputs. */
export function selectOutputs(
  all: readonly OutputTensor[],
  requested: readonly RequestedOutput[] | null,
  { classified }: Outputs,
): readonly OutputTensor[] {
  if (requested === null) return all;
  return requested.map(({ name, classification }) => {
    const output = all.find((tensor) => tensor.name === name) as OutputTensor;
    if (classification === 0 || output.datatype !== 'FP32' || !classified) return output;
    const { labels } = classified;
    return classify(output, labels, Math.min(classification, labels.length));
  });
}

/**
 * Applies the classification extension: returns the `count` highest values of each row as
 * "value:index:label".
 */
function classify(
  { name, shape, values }: Extract<OutputTensor, { datatype: 'FP32' }>,
  labels: readonly string[],
  count: number,
): OutputTensor {
  const rows = shape[0] as number;
  const classified: string[] = [];
  for (let row = 0; row < rows; row++) {
    const scores = values.subarray(row * labels.length, (row + 1) * labels.length);
    const order = Array.from(scores.keys()).sort(
      (a, b) => (scores[b] as number) - (scores[a] as number) || a - b,
    );
    for (const index of order.slice(0, count)) {
      classified.push(`${(scores[index] as number).toFixed(6)}:${index}:${labels[index]}`);
    }
  }
  return { name, datatype: 'BYTES', shape: [rows, count], values: classified };
}
