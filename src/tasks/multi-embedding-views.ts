import type { Inference } from '../native/engine';
import type {
  EmbeddingInput,
  EmbeddingMetadata,
  MultiEmbedding,
  MultiEmbeddingInput,
  Parts,
  SparseEmbedding,
  SparseEmbeddingMetadata,
  TokenEmbeddingMetadata,
  TokenEmbeddings,
} from './capabilities';
import { embedding } from './embedding/embedding-task';
import { requireFinite } from './embeddings';
import { prepareParts, splitParts } from './multi-embeddings';
import { sparseEmbedding } from './sparse-embedding/sparse-embedding-task';
import type { Task } from './task';
import { tokenEmbedding } from './token-embedding/token-embedding-task';

/** Views of a bge-m3 model, which is loaded as an embedding model. */

const SPARSE: Parts = { dense: false, sparse: true, colbert: false };
const COLBERT: Parts = { dense: false, sparse: false, colbert: true };

/** Dense, sparse and ColBERT embeddings of one pass, as `BGEM3FlagModel.encode`. */
export const multiEmbedding: Task<MultiEmbeddingInput, MultiEmbedding, EmbeddingMetadata> = {
  ...(embedding as Task<never, never, EmbeddingMetadata>),
  name: 'multi-embedding',
  prepare: ({ parts, maxTokens, ...input }, metadata) => {
    const prepared = prepareParts(input as EmbeddingInput, metadata, parts);
    return { ...(prepared as object), ...(maxTokens !== undefined && { maxTokens }) } as never;
  },
  toPrediction: (inference, { dimensions }, index, { parts }) => {
    requireFinite(inference, index);
    return { ...splitParts(inference, dimensions, parts), inference };
  },
};

/** Sparse embeddings of bge-m3: the largest weight of each token. */
export const multiSparse: Task<EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata> = {
  ...sparseEmbedding,
  prepare: (input, metadata) => prepareParts(input, metadata, SPARSE),
  toPrediction: (inference, { vocabularySize }, index) => {
    requireFinite(inference, index);
    const { sparse } = splitParts(inference, 0, SPARSE);
    const weights = new Float32Array(vocabularySize);
    for (const [i, id] of (sparse?.ids ?? []).entries()) weights[id] = sparse?.values[i] as number;
    return { weights, inference };
  },
};

/** ColBERT embeddings of bge-m3: a vector for each token except the first. */
export const multiTokens: Task<EmbeddingInput, TokenEmbeddings, TokenEmbeddingMetadata> = {
  ...tokenEmbedding,
  prepare: (input, metadata) => prepareParts(input, metadata, COLBERT),
  toPrediction: (inference: Inference, { dimensions }, index) => {
    requireFinite(inference, index);
    return { vectors: splitParts(inference, dimensions, COLBERT).colbert ?? [], inference };
  },
};
