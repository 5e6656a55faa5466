import path from 'node:path';
import { z } from 'zod';
import type { SentenceModule } from '../../native/engine';
import { filesThere, ModelFileError } from '../files';
import { checkModelJson, readModelJson } from '../json';
import {
  listModules,
  MASK,
  MODULES,
  readMask,
  readModule,
  readSplade,
  SPLADE,
  type Splade,
  type TokenMask,
  within,
} from './modules';
import { pylateSchema, readPylate } from './pylate';
import { readStanford } from './stanford';

const SETTINGS = 'config_sentence_transformers.json';

/** Of the first module, in the order in which the library looks for them. */
export const TRANSFORMER_SETTINGS = [
  'sentence_bert_config.json',
  'sentence_roberta_config.json',
  'sentence_distilbert_config.json',
  'sentence_camembert_config.json',
  'sentence_albert_config.json',
  'sentence_xlm-roberta_config.json',
  'sentence_xlnet_config.json',
];

export const SIMILARITIES = ['cosine', 'dot', 'euclidean', 'manhattan'] as const;
export type Similarity = (typeof SIMILARITIES)[number];

const settingsSchema = pylateSchema.extend({
  model_type: z.string().nullish(),
  prompts: z.record(z.string(), z.string().nullable()).nullish(),
  default_prompt_name: z.string().nullish(),
  similarity_fn_name: z.string().nullish(),
  truncate_dim: z.int().positive().nullish(),
});

const transformerSchema = z.looseObject({
  max_seq_length: z.int().positive().nullish(),
  do_lower_case: z.boolean().nullish(),
  query_length: z.int().positive().nullish(),
  document_length: z.int().positive().nullish(),
  query_expansion: z
    .strictObject({
      strategy: z.enum(['fixed', 'min'], { error: 'expected "fixed" or "min"' }),
      attend: z.boolean().nullish(),
      token: z.string().nullish(),
      length: z.int().positive(),
    })
    .nullish(),
});

/** Of sentence_bert_config.json. */
type TransformerSettings = z.output<typeof transformerSchema>;

/** What a directory of sentence-transformers, or of Stanford's ColBERT, says beside weights and tokenizer. */
export interface SentenceDirectory {
  /** Absolute path of the encoder: the directory, or a folder in it. */
  readonly encoder: string;
  /** What follows the encoder. */
  readonly modules: readonly SentenceModule[];
  /** What becomes of a masked language model's outputs; null: it is none. */
  readonly splade: Splade | null;
  /** Tokens, special ones included; null: tokenizer and model say. */
  readonly maxLength: number | null;
  /** How long queries and documents are, where models of late interaction say so. */
  readonly lengths: Pick<
    TransformerSettings,
    'query_length' | 'document_length' | 'query_expansion'
  >;
  /** Which tokens have no vector; null: all have one, and nothing is read as a query. */
  readonly mask: TokenMask | null;
  /** Texts are put into lower case before all that the tokenizer does. */
  readonly lowercases: boolean;
  /** Put before texts, by name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Of them, those that are tokens of the vocabulary, though text is normalized. */
  readonly prefixes: readonly string[];
  /** Of the prompt that a text gets where none is asked for; null: none. */
  readonly defaultPromptName: string | null;
  readonly similarity: Similarity;
  /** So many numbers of a vector are kept; null: all. */
  readonly truncateDim: number | null;
  /** Absolute paths of all of this that is read. */
  readonly files: readonly string[];
}

/** @returns null: it is no such directory. @throws ModelFileError */
export function readSentenceDirectory(directory: string): SentenceDirectory | null {
  const [first, ...others] = listModules(directory) ?? [];
  if (!first) return readStanford(directory);
  if (first.type !== 'Transformer' && first.type !== 'MLMTransformer') {
    throw new ModelFileError(`${MODULES}: type: expected Transformer first, found ${first.type}`);
  }
  const settings = checkModelJson(
    SETTINGS,
    settingsSchema,
    readModelJson(directory, SETTINGS) ?? {},
  );
  const encoder = path.join(directory, first.path);
  const transformer = within(first.path, () => readTransformer(encoder));
  const mask = others.find(({ type }) => type === MASK);
  const pooling = others.find(({ type }) => type === SPLADE);
  const prompts = Object.fromEntries(
    Object.entries(settings.prompts ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  );
  const modules = others.flatMap((module) =>
    module.type === SPLADE ? [] : (readModule(directory, module) ?? []),
  );
  const pylate = settings.model_type === 'ColBERT' ? readPylate(settings, prompts) : null;
  return {
    encoder,
    // PyLate has no module for it.
    modules: pylate ? [...modules, { type: 'normalize' }] : modules,
    splade: pooling ? readSplade(directory, pooling) : null,
    maxLength: transformer.max_seq_length ?? null,
    lengths: pylate?.lengths ?? transformer,
    mask: pylate?.mask ?? (mask ? readMask(directory, mask) : null),
    lowercases: transformer.do_lower_case ?? false,
    prompts: pylate?.prompts ?? prompts,
    prefixes: pylate?.prefixes ?? [],
    defaultPromptName: requirePrompt(settings.default_prompt_name ?? null, settings.prompts ?? {}),
    similarity: SIMILARITIES.find((one) => one === settings.similarity_fn_name) ?? 'cosine',
    truncateDim: settings.truncate_dim ?? null,
    files: [
      ...filesThere(directory, [MODULES, SETTINGS]),
      ...filesThere(encoder, TRANSFORMER_SETTINGS),
      ...others.flatMap((module) => filesThere(path.join(directory, module.path), ['config.json'])),
    ],
  };
}

/** How the encoder's folder says that texts are read. @throws ModelFileError */
export function readTransformer(encoder: string): TransformerSettings {
  for (const name of TRANSFORMER_SETTINGS) {
    const content = readModelJson(encoder, name);
    if (content !== undefined) return checkModelJson(name, transformerSchema, content);
  }
  return {};
}

function requirePrompt(name: string | null, prompts: Readonly<Record<string, unknown>>) {
  if (name === null || Object.hasOwn(prompts, name)) return name;
  const known = Object.keys(prompts).join(', ') || 'none';
  throw new ModelFileError(
    `${SETTINGS}: default_prompt_name: "${name}" is not in prompts (${known})`,
  );
}
