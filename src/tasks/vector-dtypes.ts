/**
 * Number formats of embeddings for vector stores, as `quantize_embeddings` of sentence-transformers computes them.
 *
 * int8 and uint8 need a range for each dimension. A range that followed from the texts of a request would make vectors
 * of two requests incomparable, so the range is fixed: ±4/√dimensions, four standard deviations of the components of a
 * vector of length 1. Components outside of it are clipped.
 */
export const VECTOR_DTYPES = ['float', 'int8', 'uint8', 'binary', 'ubinary'] as const;
/** Number format of an embedding. */
export type VectorDtype = (typeof VECTOR_DTYPES)[number];

/** Range of a component in standard deviations, see above. */
const RANGE_DEVIATIONS = 4;
const INT8_STEPS = 255;
const INT8_OFFSET = 128;
const BYTE_BITS = 8;
const HIGHEST_BIT = 0x80;

/** An embedding in a number format: the vector itself, or bytes. */
export type EncodedVector = Float32Array | Int8Array | Uint8Array;

/** Largest absolute value of a component that int8 and uint8 represent, for unit vectors. */
export function int8Range(dimensions: number): number {
  return RANGE_DEVIATIONS / Math.sqrt(dimensions);
}

/**
 * Converts an embedding to a number format for vector stores, as the server does for `output_dtype` and `encoding`.
 *
 * @param vector for int8 and uint8: a vector of length 1
 * @returns float: the vector; int8, uint8: [dimensions]; binary (signed) and ubinary: a bit for each dimension that is
 *   greater than 0, the first dimension in the highest bit, [⌈dimensions / 8⌉]
 */
export function encodeVector(vector: Float32Array, dtype: VectorDtype): EncodedVector {
  switch (dtype) {
    case 'float':
      return vector;
    case 'uint8':
      return quantize(vector);
    case 'int8':
      return Int8Array.from(quantize(vector), (value) => value - INT8_OFFSET);
    case 'ubinary':
      return packBits(vector);
    case 'binary':
      return Int8Array.from(packBits(vector), (value) => value - INT8_OFFSET);
  }
}

function quantize(vector: Float32Array): Uint8Array {
  const range = int8Range(vector.length);
  const step = (2 * range) / INT8_STEPS;
  return Uint8Array.from(vector, (value) =>
    Math.min(Math.max(Math.floor((value + range) / step), 0), INT8_STEPS),
  );
}

function packBits(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(vector.length / BYTE_BITS));
  for (const [index, value] of vector.entries()) {
    if (value > 0)
      bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (HIGHEST_BIT >> (index % BYTE_BITS));
  }
  return bytes;
}
