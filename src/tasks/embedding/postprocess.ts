import type { EmbeddingMetadata } from '../capabilities';

/** What is made of vectors behind a model. Numbers are doubles until the end, as in NumPy's float64. */

/** What is asked of a vector. */
export interface PostprocessOptions {
  /** So many of the first numbers. Default: all. */
  readonly dimensions?: number | null | undefined;
  /** It gets a length of 1. Default: where the model's vectors have it. */
  readonly normalize?: boolean | null | undefined;
}

/** A model's vector as it is asked for; where nothing is changed, bit for bit. */
export function postprocessEmbedding(
  vector: Float32Array,
  { normalizes }: Pick<EmbeddingMetadata, 'normalizes'>,
  { dimensions, normalize }: PostprocessOptions,
): Float32Array {
  const isShorter = dimensions != null && dimensions < vector.length;
  const short = isShorter ? vector.slice(0, dimensions) : vector;
  const isNormalized = normalizes && !isShorter;
  return (normalize ?? normalizes) && !isNormalized ? normalized(short) : short;
}

/** Of nothing but zeros it stays as it is. */
function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** The higher, the more alike: distances are negative, as in sentence-transformers. */
const MEASURES = {
  cosine: (a, b) => dot(a, b) / Math.max(Math.sqrt(dot(a, a) * dot(b, b)), Number.MIN_VALUE),
  dot,
  euclidean: (a, b) => -Math.sqrt(sumOf(a, b, (difference) => difference * difference)),
  manhattan: (a, b) => -sumOf(a, b, Math.abs),
} satisfies Readonly<Record<string, (a: Float32Array, b: Float32Array) => number>>;

function sumOf(a: Float32Array, b: Float32Array, of: (difference: number) => number): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += of((a[i] as number) - (b[i] as number));
  return sum;
}

/** How alike two vectors are, by the model's own function. */
export function similarity(
  a: Float32Array,
  b: Float32Array,
  measure: keyof typeof MEASURES,
): number {
  return MEASURES[measure](a, b);
}
