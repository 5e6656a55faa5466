import { codePointCounter } from '../../lib/code-points';
import type {
  ClassifierMetadata,
  TokenClassification,
  TokenClassificationInput,
} from '../capabilities';
import type { Tensors } from '../tensors';

/**
 * Tensors of token classification: logits, offsets, and the number of tokens of each text, without
 * special tokens.
 */
export const taggingTensors: Tensors<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
> = {
  inputs: [{ name: 'TEXT', content: 'text', optional: false }],
  outputs: ({ labels }) => [
    { name: 'LOGITS', datatype: 'FP32', shape: [-1, labels.length] },
    { name: 'OFFSETS', datatype: 'UINT32', shape: [-1, 2] },
    { name: 'TOKENS', datatype: 'UINT32', shape: [-1] },
  ],
  hasRowPerToken: true,
  labeledOutput: () => null,
  findProblem: () => null,
  toInput: ([text]) => ({ text: text as string }),
  write: (predictions, { labels: { length } }) => {
    const rows = predictions.map(rowsOf);
    const count = rows.reduce((sum, { length }) => sum + length, 0);
    const logits = new Float32Array(count * length);
    const offsets = new Uint32Array(count * 2);
    let token = 0;
    for (const [index, { inference, text }] of predictions.entries()) {
      const own = inference.places?.offsets ?? [];
      const toCodePoint = codePointCounter(text);
      for (const row of rows[index] ?? []) {
        logits.set(inference.values.subarray(row * length, (row + 1) * length), token * length);
        offsets[2 * token] = toCodePoint(own[2 * row] as number);
        offsets[2 * token + 1] = toCodePoint(own[2 * row + 1] as number);
        token++;
      }
    }
    const tokens = Uint32Array.from(rows, (own) => own.length);
    return [
      { name: 'LOGITS', datatype: 'FP32', shape: [count, length], values: logits },
      { name: 'OFFSETS', datatype: 'UINT32', shape: [count, 2], values: offsets },
      { name: 'TOKENS', datatype: 'UINT32', shape: [predictions.length], values: tokens },
    ];
  },
};

/** Returns the rows of tokens that are not special tokens. */
function rowsOf({ inference: { places } }: TokenClassification): readonly number[] {
  return [...(places?.texts ?? [])].flatMap((text, row) => (text === 0 ? [] : [row]));
}
