import type { NativeInput, TextInput, TokenInput } from '../native/engine';
import type {
  Embedding,
  EmbeddingInput,
  EmbeddingMetadata,
  SparseEmbeddingMetadata,
} from './capabilities';
import { embedding } from './embedding/embedding-task';
import { prepareText } from './embeddings';
import type { Task } from './task';

const DENSE = { dense: true, sparse: false, colbert: false };

/** View of a masked language model: the mean of its hidden states, as `SentenceTransformer.encode` without modules. */
export const maskedLanguageModelEmbedding: Task<EmbeddingInput, Embedding, EmbeddingMetadata> = {
  ...embedding,
  prepare: (input, metadata): NativeInput => ({
    ...(prepareText(input, metadata) as TextInput | TokenInput),
    parts: DENSE,
  }),
};

/** Metadata of the view; null: the model has SPLADE modules, whose training does not include the mean. */
export function embeddingMetadataOf(model: SparseEmbeddingMetadata): EmbeddingMetadata | null {
  const { vocabularySize: _, hiddenSize, ...metadata } = model;
  if (!model.isBareEncoder || hiddenSize === 0) return null;
  return {
    ...metadata,
    dimensions: hiddenSize,
    poolsChunks: false,
    isMulti: false,
    normalizes: false,
    pooling: ['mean'],
    similarity: 'cosine',
  };
}
