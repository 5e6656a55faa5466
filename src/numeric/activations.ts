/**
 * What a classification pipeline applies to its logits, in float32 step by step as numpy does it
 * (transformers 5.23, pipelines/text_classification.py: `softmax`, `sigmoid`).
 */
const f32 = Math.fround;

/** Index of the largest value; the first of equals, as numpy's argmax. */
export function argmax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
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

/** One independent probability per logit. */
export function sigmoid(logits: Float32Array): Float32Array {
  return logits.map((logit) => 1 / f32(1 + f32(Math.exp(-logit))));
}

export function allFinite(values: Float32Array): boolean {
  return values.every(Number.isFinite);
}
