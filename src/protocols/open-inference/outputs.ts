import type { ClassifiedOutput, OutputTensor } from '../../tasks/tensors';
import { invalid, type RequestedOutput, type TensorMetadata } from './tensor';

/** What of a model decides which outputs there are. */
interface Outputs {
  readonly outputs: readonly TensorMetadata[];
  /** To which the classification extension applies; null: to no output. */
  readonly classified: ClassifiedOutput | null;
}

/**
 * To be called before anything is computed.
 *
 * @throws ServiceError: an output is unknown, asked for twice, or cannot be classified
 */
export function requireKnownOutputs(
  requested: readonly RequestedOutput[] | null,
  { outputs, classified }: Outputs,
): void {
  const names = outputs.map(({ name }) => name);
  const seen = new Set<string>();
  for (const [index, { name, classification }] of (requested ?? []).entries()) {
    const place = `outputs[${index}]`;
    if (!names.includes(name)) throw invalid(`${place}.name: expected ${names.join(', ')}`);
    if (seen.has(name)) throw invalid(`${place}.name: is asked for twice`);
    if (classification > 0 && name !== classified?.name) {
      const what = classified ? `is for ${classified.name} only` : 'the model has no labels';
      throw invalid(`${place}.parameters.classification: ${what}`);
    }
    seen.add(name);
  }
}

/** The outputs that were asked for, in that order, or all. */
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
 * The classification extension: of each row its `count` highest values, as "value:index:label".
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
