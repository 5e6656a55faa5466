import { ServiceError } from '../../../errors';
import type { OutputTensor, RequestedOutput } from './tensor';

/**
 * The outputs that were asked for, in that order, or all.
 *
 * @param labels of the values in a row of `classified`
 * @param classified the output to which the classification extension applies
 */
export function selectOutputs(
  all: readonly OutputTensor[],
  requested: readonly RequestedOutput[] | null,
  { labels, classified }: { readonly labels: readonly string[]; readonly classified: string },
): readonly OutputTensor[] {
  if (requested === null) return all;
  return requested.map(({ name, classification }, index) => {
    const output = all.find((tensor) => tensor.name === name) as OutputTensor;
    if (classification === 0) return output;
    if (name !== classified || output.datatype !== 'FP32') {
      throw new ServiceError(
        'BODY_INVALID',
        `outputs[${index}].parameters.classification: is for ${classified} only`,
      );
    }
    return classify(output, labels, Math.min(classification, labels.length));
  });
}

/** To be called before anything is computed. */
export function requireKnownOutputs(
  requested: readonly RequestedOutput[] | null,
  names: readonly string[],
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of (requested ?? []).entries()) {
    const problem = seen.has(name) ? 'is asked for twice' : `expected ${names.join(', ')}`;
    if (!names.includes(name) || seen.has(name)) {
      throw new ServiceError('BODY_INVALID', `outputs[${index}].name: ${problem}`);
    }
    seen.add(name);
  }
}

/**
 * The classification extension: of each row its `count` highest values, as "value:index:label".
 * Triton's tutorials and clients split at the colons, twice: a label may have some, too.
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
