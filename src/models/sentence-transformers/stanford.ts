import { z } from 'zod';
import type { SentenceModule } from '../../native/engine';
import { existingFiles } from '../files';
import { readArchitectures } from '../hugging-face/architectures';
import { CONFIG } from '../hugging-face/directory';
import { checkModelJson, readModelJson } from '../json';
import { type ChainedModule, TOKENS } from './chain';
import { PUNCTUATION } from './pylate';

const METADATA = 'artifact.metadata';

/** Default number of dimensions in Stanford's ColBERT. */
const DIMENSIONS = 128;
const QUERY_LENGTH = 32;
const MARKERS = { query: '[unused0]', document: '[unused1]' };

const count = z.int().positive();

/** Tokenization keys of ColBERTConfig. */
const metadataSchema = z.looseObject({
  dim: count.nullish(),
  query_token_id: z.string().nullish(),
  doc_token_id: z.string().nullish(),
  query_maxlen: count.nullish(),
  doc_maxlen: count.nullish(),
  attend_to_mask_tokens: z.boolean().nullish(),
  mask_punctuation: z.boolean().default(true),
});

/** Hidden size of the encoder. DistilBERT calls this key `dim`. */
const widthSchema = z.union(
  [
    z.looseObject({ hidden_size: count }).transform(({ hidden_size }) => hidden_size),
    z.looseObject({ dim: count }).transform(({ dim }) => dim),
  ],
  { error: 'hidden_size: expected the size of a state' },
);

/**
 * Whether a folder without modules.json is a checkpoint of Stanford's ColBERT.
 *
 * @throws ModelFileError
 */
export function isStanfordColbert(directory: string): boolean {
  return readArchitectures(directory)?.includes('HF_ColBERT') ?? false;
}

/**
 * Reads a checkpoint of Stanford's ColBERT in the format of `MultiVectorEncoder`. The projection
 * without bias is `linear.weight` in the encoder's weights. Queries are always padded with mask
 * tokens.
 *
 * Source: colbert-ai, modeling/hf_colbert.py, infra/config/settings.py; sentence-transformers,
 * multi_vector_encoder/model.py (_maybe_load_stanford_metadata, _build_stanford_projection).
 *
 * @returns null if the folder has another format
 * @throws ModelFileError
 */
export function readStanfordColbert(directory: string) {
  if (!isStanfordColbert(directory)) return null;
  const found = checkModelJson(METADATA, metadataSchema, readModelJson(directory, METADATA) ?? {});
  const prompts = {
    query: `${found.query_token_id || MARKERS.query} `,
    document: `${found.doc_token_id || MARKERS.document} `,
  };
  const projection: SentenceModule = {
    type: 'dense',
    weightFiles: [],
    inFeatures: checkModelJson(CONFIG, widthSchema, readModelJson(directory, CONFIG)),
    outFeatures: found.dim ?? DIMENSIONS,
    bias: false,
    activation: 'linear',
    residual: false,
  };
  const ofTokens = { reads: TOKENS, writes: TOKENS, isOptional: false };
  return {
    encoder: directory,
    modules: [
      { name: 'Dense', operation: projection, ...ofTokens },
      { name: 'Normalize', operation: { type: 'normalize' }, ...ofTokens },
    ] satisfies ChainedModule[],
    maxLength: null,
    lengths: {
      document_length: found.doc_maxlen,
      query_expansion: {
        strategy: 'fixed' as const,
        attend: found.attend_to_mask_tokens,
        length: found.query_maxlen ?? QUERY_LENGTH,
      },
    },
    mask: { skipped: found.mask_punctuation ? PUNCTUATION : [], tasks: ['document'] },
    lowercases: false,
    prompts,
    prefixes: Object.values(prompts),
    defaultPromptName: null,
    similarity: 'cosine' as const,
    truncateDim: null,
    files: existingFiles(directory, [METADATA]),
  };
}
