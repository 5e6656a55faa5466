import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import { isMaskedLanguageModel } from '../../models/hugging-face/architectures';
import { findModelFolder } from '../../models/hugging-face/directory';
import {
  MODULES,
  SENTENCE,
  type Splade,
  selectModules,
} from '../../models/sentence-transformers/chain';
import type { SentenceDirectory } from '../../models/sentence-transformers/directory';
import { readSentenceModel } from '../../models/sentence-transformers/model';
import { listModules } from '../../models/sentence-transformers/modules';
import type { ModelSource } from '../../native/engine';
import type { EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata } from '../capabilities';
import { preparePlainText, requireFinite } from '../embeddings';
import type { Task } from '../task';
import type { Tensors } from '../tensors';

/** Default of `SparseEncoder` for a masked language model without modules.json. */
const MAX = { pooling: 'max', activation: 'relu' } as const;

const tensors: Tensors<EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata> = {
  inputs: [{ name: 'TEXT', content: 'text', optional: false }],
  outputs: ({ vocabularySize }) => [
    { name: 'WEIGHTS', datatype: 'FP32', shape: [-1, vocabularySize] },
  ],
  labeledOutput: () => null,
  findProblem: () => null,
  toInput: ([text]) => ({ text: text as string }),
  write: (answers, { vocabularySize: columns }) => {
    const values = new Float32Array(answers.length * columns);
    for (const [index, { weights }] of answers.entries()) values.set(weights, index * columns);
    return [{ name: 'WEIGHTS', datatype: 'FP32', shape: [answers.length, columns], values }];
  },
};

/** Sparse embeddings (SPLADE), as `SparseEncoder.encode` computes them. */
export const sparseEmbedding: Task<EmbeddingInput, SparseEmbedding, SparseEmbeddingMetadata> = {
  name: 'sparse-embedding',
  summary: 'Texts to sparse vectors of token weights, as `SparseEncoder.encode`.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['sparse-embedding'],
  resolveModelPath: findModelFolder,
  findModelPaths: (folder) => (isSparse(folder) ? [folder] : []),
  isDeclaredFor: isSparse, // the embedding task can load masked language models, too
  listFiles: (directory) => read(directory).files,
  read,
  validateLoaded: (_, { isBareEncoder }) =>
    isBareEncoder
      ? [
          'modules.json: not found. The weight of a vocabulary token is its maximum over all tokens.',
        ]
      : [],
  prepare: preparePlainText,
  toPrediction: (inference, _, index) => {
    requireFinite(inference, index);
    return { weights: inference.values, inference };
  },
  logFields: () => ({}),
  info: {
    schemas: {
      vocabulary_size: z.int().optional().describe('Token weights of a text, most of them 0'),
      max_length: z.int().optional().describe('Tokens; longer texts are cut'),
      prompts: z.array(z.string()).optional().describe('Names of the prompts'),
    },
    of: ({ vocabularySize, prompts }, { maxLength }) => ({
      vocabulary_size: vocabularySize,
      max_length: maxLength,
      prompts: Object.keys(prompts),
    }),
  },
  tensors,
  page: null,
};

/** Settings of the SPLADE pooling. @throws ModelFileError: the folder has further modules */
function spladeOf({ modules }: SentenceDirectory): Splade {
  const [pooling, other] = selectModules(SENTENCE, modules).filter(
    ({ operation: does }) => does !== null,
  );
  if (pooling?.operation?.type === 'splade' && !other) {
    const { pooling: strategy, activation } = pooling.operation;
    return { pooling: strategy, activation };
  }
  const found = modules.map(({ name }) => name).join(', ');
  throw new ModelFileError(`${MODULES}: expected SpladePooling alone behind it, found ${found}`);
}

/** @throws ModelFileError */
function isSparse(folder: string): boolean {
  const modules = listModules(folder);
  if (modules) return modules.some(({ type }) => type === 'SpladePooling');
  return isMaskedLanguageModel(folder);
}

/** @throws ModelFileError */
function read(directory: string): {
  readonly source: ModelSource;
  readonly files: readonly string[];
  readonly metadata: SparseEmbeddingMetadata;
} {
  const { source, files, identity, prompted, width, sentence } = readSentenceModel(
    directory,
    'fill-mask',
    (one) => ({ name: 'masked-lm', ...(one ? spladeOf(one) : MAX) }),
  );
  const vocabularySize = Number(source.config.vocab_size);
  return {
    source,
    files,
    metadata: {
      ...identity,
      ...prompted,
      vocabularySize,
      isBareEncoder: sentence === null,
      hiddenSize: width,
    },
  };
}
