/**
 * What a classification pipeline applies to its logits, in float32 step by step as numpy does it
 * (transformers 5.23, pipelines/text_classification.py: `softmax`, `sigmoid`).
 */
const f32 = Math.fround;

/** Index of the largest value; the first of equals, as numpy's argmax. */
export function argmax(values: Float32Array): number {
  return argmaxWithin(values, 0, values.length);
}

/** The same of those from `begin` to before `end`. */
export function argmaxWithin(values: Float32Array, begin: number, end: number): number {
  let best = begin;
  for (let i = begin + 1; i < end; i++) {
    if ((values[i] as number) > (values[best] as number)) best = i;
  }
  return best;
}

/** Probabilities that sum to 1. The maximum is subtracted first, so no finite logit overflows. */
export function softmax(logits: Float32Array): Float32Array {
  const maximum = logits[argmax(logits)] as number;
  const exponentials = logits.map((logit) => Math.exp(f32(logit - maximum)));
  const sum = exponentials.reduce((total, value) => f32(total + value), 0);
  return exponentials.map((value) => value / sum);
}

/** `softmax` of each row, the same numbers: without the arrays of its own that each would need. */
export function softmaxRows(logits: Float32Array, columns: number): Float32Array {
  const scores = new Float32Array(logits.length);
  for (let begin = 0; begin < logits.length; begin += columns) {
    const end = begin + columns;
    const maximum = logits[argmaxWithin(logits, begin, end)] as number;
    let sum = 0;
    for (let i = begin; i < end; i++) {
      scores[i] = Math.exp(f32((logits[i] as number) - maximum));
      sum = f32(sum + (scores[i] as number));
    }
    for (let i = begin; i < end; i++) scores[i] = (scores[i] as number) / sum;
  }
  return scores;
}

/** One independent probability per logit. */
export function sigmoid(logits: Float32Array): Float32Array {
  return logits.map((logit) => 1 / f32(1 + f32(Math.exp(-logit))));
}

export function allFinite(values: Float32Array): boolean {
  return values.every(Number.isFinite);
}
