import { z } from 'zod';
import { findModelFolder } from '../../models/hugging-face/directory';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../capabilities';
import { preparePlainText, requireFinite } from '../embeddings';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { readEmbeddingDirectory } from './model-directory';
import { canEmbed, isEmbedding } from './recognize';

/** Fields of `model` in `GET /info`. */
export const EMBEDDING_INFO = {
  dimensions: z.int().optional().describe('Numbers of a vector'),
  max_length: z.int().optional().describe('Tokens; longer texts are cut'),
  pooling: z.array(z.string()).optional(),
  normalizes: z.boolean().optional().describe('Whether vectors are normalized to length 1'),
  similarity: z.string().optional().describe('By which vectors are compared'),
  prompts: z.array(z.string()).optional().describe('Names of the prompts'),
  tasks: z.array(z.string()).optional().describe('Tasks with LoRA adapters. Absent: none'),
};

const tensors: Tensors<EmbeddingInput, Embedding, EmbeddingMetadata> = {
  inputs: [{ name: 'TEXT', content: 'text', optional: false }],
  outputs: ({ dimensions }) => [{ name: 'EMBEDDING', datatype: 'FP32', shape: [-1, dimensions] }],
  labeledOutput: () => null,
  findProblem: () => null,
  toInput: ([text]) => ({ text: text as string }),
  write: (answers, { dimensions }) => {
    const values = new Float32Array(answers.length * dimensions);
    for (const [index, { vector }] of answers.entries()) values.set(vector, index * dimensions);
    return [{ name: 'EMBEDDING', datatype: 'FP32', shape: [answers.length, dimensions], values }];
  },
};

/** Text embeddings, as `SentenceTransformer.encode` computes them. */
export const embedding: Task<EmbeddingInput, Embedding, EmbeddingMetadata> = {
  name: 'embedding',
  summary: 'Texts to vectors, as `SentenceTransformer.encode`.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['embedding'],
  resolveModelPath: findModelFolder,
  findModelPaths: (folder) => (canEmbed(folder) ? [folder] : []),
  isDeclaredFor: isEmbedding, // a program of an embedding model resembles a signal model
  listFiles: (directory) => readEmbeddingDirectory(directory).files,
  read: readEmbeddingDirectory,
  validateLoaded: (_, { isBareEncoder }) =>
    isBareEncoder
      ? ['modules.json: not found. Embeddings are the mean of the token embeddings (mean pooling).']
      : [],
  prepare: preparePlainText,
  toPrediction: (inference, { dimensions }, index) => {
    requireFinite(inference, index);
    return { vector: inference.values.subarray(0, dimensions), inference };
  },
  logFields: ({ pooling, normalizes }) => ({ pooling, normalizes }),
  info: {
    schemas: EMBEDDING_INFO,
    of: ({ dimensions, pooling, normalizes, similarity, prompts, tasks }, { maxLength }) => ({
      dimensions,
      max_length: maxLength,
      pooling: [...pooling],
      normalizes,
      similarity,
      prompts: Object.keys(prompts),
      ...(tasks.length > 0 && { tasks: [...tasks] }),
    }),
  },
  tensors,
  page: 'embedding',
};
