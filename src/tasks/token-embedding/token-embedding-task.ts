import { z } from 'zod';
import { findModelFolder } from '../../models/hugging-face/directory';
import { selectModules, TOKENS, toSentenceModules } from '../../models/sentence-transformers/chain';
import { dimensionsOf, readSentenceModel } from '../../models/sentence-transformers/model';
import { listModules } from '../../models/sentence-transformers/modules';
import { isStanfordColbert } from '../../models/sentence-transformers/stanford';
import type { ModelSource, TextInput } from '../../native/engine';
import type { EmbeddingInput, TokenEmbeddingMetadata, TokenEmbeddings } from '../capabilities';
import { prepareText, requireFinite } from '../embeddings';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { type Role, readLateInteraction } from './late-interaction';

const tensors: Tensors<EmbeddingInput, TokenEmbeddings, TokenEmbeddingMetadata> = {
  inputs: [{ name: 'TEXT', content: 'text', optional: false }],
  outputs: ({ dimensions }) => [
    { name: 'VECTORS', datatype: 'FP32', shape: [-1, dimensions] },
    { name: 'TOKENS', datatype: 'UINT32', shape: [-1] },
  ],
  hasRowPerToken: true,
  labeledOutput: () => null,
  findProblem: () => null,
  toInput: ([text]) => ({ text: text as string }),
  write: (answers, { dimensions }) => {
    const tokens = Uint32Array.from(answers, ({ vectors }) => vectors.length);
    const rows = answers.flatMap(({ vectors }) => vectors);
    const values = new Float32Array(rows.length * dimensions);
    for (const [index, vector] of rows.entries()) values.set(vector, index * dimensions);
    return [
      { name: 'VECTORS', datatype: 'FP32', shape: [rows.length, dimensions], values },
      { name: 'TOKENS', datatype: 'UINT32', shape: [answers.length], values: tokens },
    ];
  },
};

/**
 * Token embeddings, including special tokens, for late interaction (ColBERT). For embedding models: the input of
 * the pooling.
 */
export const tokenEmbedding: Task<EmbeddingInput, TokenEmbeddings, TokenEmbeddingMetadata> = {
  name: 'token-embedding',
  summary: 'Texts to one vector per token.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['token-embedding'],
  resolveModelPath: findModelFolder,
  findModelPaths: (folder) => (listModules(folder) || isStanfordColbert(folder) ? [folder] : []),
  listFiles: (directory) => read(directory).files,
  read,
  validateLoaded: () => [],
  prepare: (input, metadata) => {
    const prepared = prepareText(input, metadata);
    if ('ids' in input || metadata.roles === null) return prepared;
    return { ...(prepared as TextInput), ...metadata.roles[roleOf(input.promptName)] };
  },
  toPrediction: (inference, { dimensions }, index) => {
    requireFinite(inference, index);
    const vectors = Array.from({ length: inference.rows }, (_, row) =>
      inference.values.subarray(row * dimensions, (row + 1) * dimensions),
    );
    return { vectors, inference };
  },
  logFields: () => ({}),
  info: {
    schemas: {
      dimensions: z.int().optional().describe('Numbers of a vector'),
      max_length: z.int().optional().describe('Tokens; longer texts are cut'),
      prompts: z.array(z.string()).optional().describe('Names of the prompts'),
    },
    of: ({ dimensions, prompts }, { maxLength }) => ({
      dimensions,
      max_length: maxLength,
      prompts: Object.keys(prompts),
    }),
  },
  tensors,
  page: null,
};

/** @throws ModelFileError */
function read(directory: string): {
  readonly source: ModelSource;
  readonly files: readonly string[];
  readonly metadata: TokenEmbeddingMetadata;
} {
  const model = readSentenceModel(directory, 'feature-extraction', (sentence) => {
    const modules = toSentenceModules(selectModules(TOKENS, sentence?.modules ?? []));
    return { name: 'embedding', modules };
  });
  const { source, files, identity, prompted, width } = model;
  const { head } = source;
  const modules = head.name === 'embedding' ? head.modules : [];
  const dimensions = dimensionsOf(width, modules);
  const late = readLateInteraction(model);
  const metadata = { ...identity, ...prompted, dimensions, roles: late?.roles ?? null };
  if (late === null) return { source, files, metadata };
  const { interaction: lateInteraction, maxLength } = late;
  return {
    source: { ...source, lateInteraction, ...(maxLength !== null && { maxLength }) },
    files,
    metadata: { ...metadata, prompts: { query: '', document: '', ...prompted.prompts } },
  };
}

/** Prompts with other names do not change the role. */
function roleOf(promptName: string | undefined): Role {
  return promptName === 'query' || promptName === 'document' ? promptName : 'text';
}
