const f32 = Math.fround;

/** Index of the largest value. Ties resolve to the first index, as in numpy's argmax. */
export function argmax(values: Float32Array): number {
  return argmaxWithin(values, 0, values.length);
}

/** Index of the largest value of the range [begin, end). Ties resolve to the first index. */
export function argmaxWithin(values: Float32Array, begin: number, end: number): number {
  let best = begin;
  for (let i = begin + 1; i < end; i++) {
    if ((values[i] as number) > (values[best] as number)) best = i;
  }
  return best;
}

/**
 * Softmax in float32, step by step as numpy computes it in transformers 5.23
 * (pipelines/text_classification.py: `softmax`). Subtracting the maximum prevents overflow.
 */
export function softmax(logits: Float32Array): Float32Array {
  const maximum = logits[argmax(logits)] as number;
  const exponentials = logits.map((logit) => Math.exp(f32(logit - maximum)));
  const sum = exponentials.reduce((total, value) => f32(total + value), 0);
  return exponentials.map((value) => value / sum);
}

/**
 * Softmax of each row of a matrix, bitwise identical to `softmax`, in a single allocation.
 *
 * @param logits [rows, columns]
 */
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

/** Sigmoid of each logit in float32, as numpy computes it in transformers (`sigmoid`). */
export function sigmoid(logits: Float32Array): Float32Array {
  return logits.map((logit) => 1 / f32(1 + f32(Math.exp(-logit))));
}

export function allFinite(values: Float32Array): boolean {
  // The product with 0 is NaN for NaN and infinities. Four sums do not wait for each other. `every` takes ten times as
  // long.
  let [a, b, c, d] = [0, 0, 0, 0];
  const { length } = values;
  const end = length - (length % 4);
  for (let i = 0; i < end; i += 4) {
    a += (values[i] as number) * 0;
    b += (values[i + 1] as number) * 0;
    c += (values[i + 2] as number) * 0;
    d += (values[i + 3] as number) * 0;
  }
  for (let i = end; i < length; i++) a += (values[i] as number) * 0;
  return a + b + c + d === 0;
}

/**
 * Python's `round(value, 4)`: the decimal with 4 places nearest to the exact value of the double,
 * ties to even (CPython rounds with dtoa in mode 3, Objects/floatobject.c).
 *
 * `toFixed` is exact as well but rounds ties away from zero (ECMA-262, Number.prototype.toFixed).
 * A tie means value × 10^4 = n + 1/2, that is value = (2n + 1) / (2^5 × 5^4). The denominator of a
 * double has no factor 5, so ties are exactly the odd multiples of 1/32. Odd multiples of 1/32 have
 * five decimals, and `toFixed(5)` returns their exact value.
 */
export function roundToFourDecimals(value: number): number {
  const thirtySeconds = value * 32;
  if (!Number.isInteger(thirtySeconds) || thirtySeconds % 2 === 0) return Number(value.toFixed(4));
  const towardsZero = value.toFixed(5).slice(0, -1);
  const isEven = Number(towardsZero.at(-1)) % 2 === 0;
  return Number(isEven ? towardsZero : value.toFixed(4));
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Similarity functions of sentence-transformers. Distances are negated: higher means more similar. */
const SIMILARITIES = {
  cosine: (a, b) => dot(a, b) / Math.max(Math.sqrt(dot(a, a) * dot(b, b)), Number.MIN_VALUE),
  dot,
  euclidean: (a, b) => -Math.sqrt(sumOf(a, b, (difference) => difference * difference)),
  manhattan: (a, b) => -sumOf(a, b, Math.abs),
} satisfies Readonly<Record<string, (a: Float32Array, b: Float32Array) => number>>;

function sumOf(a: Float32Array, b: Float32Array, map: (difference: number) => number): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += map((a[i] as number) - (b[i] as number));
  return sum;
}

/** @param name similarity function of the model */
export function similarity(
  a: Float32Array,
  b: Float32Array,
  name: keyof typeof SIMILARITIES,
): number {
  return SIMILARITIES[name](a, b);
}
