import { z } from 'zod';
import { embeddingsToJson } from '../../native/addon';
import type { Encoding } from '../../services/embed';
import { ServiceError } from '../../serving/errors';
import type { EmbeddingMetadata } from '../../tasks/capabilities';
import {
  type EncodedVector,
  encodeVector,
  VECTOR_DTYPES,
  type VectorDtype,
} from '../../tasks/vector-dtypes';
import { expected } from './fields';

/** Number of dimensions to which embeddings are truncated. */
export const dimensionCount = () =>
  z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('Truncate embeddings to this number of dimensions');

/** A number format of embeddings. */
export const vectorDtype = () =>
  z
    .enum(VECTOR_DTYPES, { error: expected(`one of ${VECTOR_DTYPES.join(', ')}`) })
    .describe('Number format. int8 and uint8 need a model with normalized embeddings');

/** Role of a text, by which the prompt is chosen. */
export type TextRole = 'query' | 'document';

/** Prompt names of sentence-transformers models by role. */
const PROMPT_NAMES: Readonly<Record<TextRole, readonly string[]>> = {
  query: ['query', 'search_query'],
  document: ['document', 'passage', 'search_document'],
};

/** Encoding with the prompt of a role. A model without such a prompt gets the texts as they are. */
export function encodingFor(
  role: TextRole | null,
  { prompts }: Pick<EmbeddingMetadata, 'prompts'>,
): Pick<Encoding, 'promptName'> {
  const names = role === null ? [] : PROMPT_NAMES[role];
  return { promptName: names.find((name) => Object.hasOwn(prompts, name)) ?? null };
}

/**
 * Converts embeddings to a number format.
 *
 * @param field name of the format in the request
 * @throws ServiceError BODY_INVALID: the format needs normalized embeddings
 */
export function encodeVectors(
  vectors: readonly Float32Array[],
  dtype: VectorDtype,
  { normalizes }: Pick<EmbeddingMetadata, 'normalizes'>,
  field: string,
): readonly EncodedVector[] {
  if (dtype === 'float') return vectors;
  if ((dtype === 'int8' || dtype === 'uint8') && !normalizes) {
    const problem = `${dtype} needs normalized embeddings, which this model does not compute`;
    throw new ServiceError('BODY_INVALID', `${field}: ${problem}. Use float, binary or ubinary`);
  }
  return vectors.map((vector) => encodeVector(vector, dtype));
}

/** Base64 of the bytes of embeddings: little-endian float32, or a byte for each integer. */
export function vectorToBase64({ buffer, byteOffset, byteLength }: EncodedVector): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** JSON arrays of embeddings. */
export async function vectorsToJson(
  vectors: readonly EncodedVector[],
): Promise<readonly (string | Buffer)[]> {
  const isFloat = (vector: EncodedVector): vector is Float32Array => vector instanceof Float32Array;
  return vectors.every(isFloat)
    ? embeddingsToJson(vectors)
    : vectors.map((vector) => JSON.stringify([...vector]));
}
