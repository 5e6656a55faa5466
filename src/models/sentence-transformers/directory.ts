import path from 'node:path';
import { z } from 'zod';
import { existingFiles, ModelFileError } from '../files';
import { checkModelJson, readModelJson } from '../json';
import { CONFIG_MULTI_VECTOR, CONFIG_SENTENCE_TRANSFORMERS } from '../keys/sentence-transformers';
import { checkKeys } from '../keys/table';
import { findAdapter, settingsFolder } from '../peft/adapter';
import { type ChainedModule, MODULES, SENTENCE, TOKENS } from './chain';
import { listModules, MASK, readMask, readModule, type TokenMask, withFolder } from './modules';
import { pylateSchema, readPylate } from './pylate';
import { readStanfordColbert } from './stanford';
import {
  readTransformer,
  TRANSFORMER_SETTINGS,
  type Transformer,
  type TransformerTask,
} from './transformer';

const SETTINGS = 'config_sentence_transformers.json';

export const SIMILARITIES = ['cosine', 'dot', 'euclidean', 'manhattan'] as const;
export type Similarity = (typeof SIMILARITIES)[number];

/** Content of config_sentence_transformers.json. */
export type SettingsFile = z.output<typeof settingsSchema>;

const settingsSchema = pylateSchema.extend({
  model_type: z.string().nullish(),
  prompts: z.record(z.string(), z.string().nullable()).nullish(),
  default_prompt_name: z.string().nullish(),
  similarity_fn_name: z.string().nullish(),
  truncate_dim: z.int().positive().nullish(),
  activation_fn: z.string().nullish(),
});

/**
 * Settings of a sentence-transformers or Stanford ColBERT folder, without weights and tokenizer.
 */
export interface SentenceDirectory {
  /** Absolute path of the encoder: the model folder or a subfolder. */
  readonly encoder: string;
  /** Modules after the encoder, in execution order; see `selectModules`. */
  readonly modules: readonly ChainedModule[];
  /**
   * Maximum length in tokens, including special tokens; null: the limit of the tokenizer applies.
   */
  readonly maxLength: number | null;
  /** Maximum lengths of queries and documents for late-interaction models. */
  readonly lengths: Transformer['lengths'];
  /**
   * Tokens without an embedding; null: each token has an embedding, and no text is read as a query.
   */
  readonly mask: TokenMask | null;
  /** Whether texts are converted to lower case before tokenization. */
  readonly lowercases: boolean;
  /** Prompts by name. A prompt is inserted before the text. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Prompts that are tokens of the vocabulary and bypass text normalization. */
  readonly prefixes: readonly string[];
  /** Name of the default prompt; null: no default prompt. */
  readonly defaultPromptName: string | null;
  readonly similarity: Similarity;
  /** Truncates embeddings to this number of dimensions; null: no truncation. */
  readonly truncateDim: number | null;
  /** Absolute paths of the settings files. */
  readonly files: readonly string[];
}

/**
 * Reads the settings of a sentence-transformers folder. A LoRA adapter may have them in the folder
 * of its base.
 *
 * @param task task that the encoder performs
 * @returns null if the folder has another format
 * @throws ModelFileError
 */
export function readSentenceDirectory(
  folder: string,
  task: TransformerTask,
): SentenceDirectory | null {
  const found = readSettingsFolder(settingsFolder(folder), task);
  // The encoder of an adapter is the adapted base.
  return found && findAdapter(folder) ? { ...found, encoder: folder } : found;
}

function readSettingsFolder(directory: string, task: TransformerTask): SentenceDirectory | null {
  const [first, ...others] = listModules(directory) ?? [];
  if (!first) return readStanfordColbert(directory);
  if (first.type !== 'Transformer' && first.type !== 'MLMTransformer') {
    throw new ModelFileError(`${MODULES}: type: expected Transformer first, found ${first.type}`);
  }
  const presumed = first.type === 'MLMTransformer' ? 'fill-mask' : 'feature-extraction';
  const encoder = path.join(directory, first.path);
  const transformer = withFolder(first.path, () => readTransformer(encoder, task, presumed));
  const listedMask = others.find(({ type }) => type === MASK);
  const settings = readSettings(directory, listedMask !== undefined);
  const { prompts, defaultPromptName } = promptsOf(settings);
  const pylate = settings.model_type === 'ColBERT' ? readPylate(settings, prompts) : null;
  const mask = pylate?.mask ?? (listedMask ? readMask(directory, listedMask) : null);
  const isLate = mask !== null || settings.model_type === 'MultiVectorEncoder';
  requireLengths(transformer, { isPylate: pylate !== null, hasMask: mask !== null });
  const modules = others.flatMap(
    (module) => readModule(directory, module, isLate ? TOKENS : SENTENCE) ?? [],
  );
  return {
    encoder,
    modules: pylate ? [...modules, NORMALIZE] : modules,
    maxLength: transformer.maxLength,
    lengths: pylate?.lengths ?? transformer.lengths,
    mask,
    lowercases: transformer.lowercases,
    prompts: pylate?.prompts ?? prompts,
    prefixes: pylate?.prefixes ?? [],
    defaultPromptName,
    similarity: similarityOf(settings),
    truncateDim: settings.truncate_dim ?? null,
    files: [
      ...existingFiles(directory, [MODULES, SETTINGS]),
      ...existingFiles(encoder, TRANSFORMER_SETTINGS),
      ...others.flatMap((module) =>
        existingFiles(path.join(directory, module.path), ['config.json']),
      ),
    ],
  };
}

/** L2 normalization. PyLate lists no module for this step. */
const NORMALIZE: ChainedModule = {
  name: 'Normalize',
  operation: { type: 'normalize' },
  reads: TOKENS,
  writes: TOKENS,
  isOptional: false,
};

/**
 * Reads config_sentence_transformers.json.
 *
 * @throws ModelFileError
 */
export function readSettings(directory: string, hasMask: boolean): SettingsFile {
  const content = readModelJson(directory, SETTINGS) ?? {};
  const settings = checkModelJson(SETTINGS, settingsSchema, content);
  const { model_type: type } = settings;
  const isLate = type === 'MultiVectorEncoder' || (hasMask && type !== 'ColBERT');
  checkKeys(isLate ? CONFIG_MULTI_VECTOR : CONFIG_SENTENCE_TRANSFORMERS, SETTINGS, content);
  return settings;
}

/**
 * Rejects different lengths for queries and documents if the model does not support them.
 *
 * @throws ModelFileError
 */
function requireLengths(
  { lengths, file }: Transformer,
  { isPylate, hasMask }: { readonly isPylate: boolean; readonly hasMask: boolean },
): void {
  const given = Object.entries(lengths).find(([, value]) => value != null);
  if (given === undefined || (hasMask && !isPylate)) return;
  const problem = isPylate
    ? `expected it in ${SETTINGS} alone, where PyLate writes it`
    : `${MODULES} has no MultiVectorMask, so that no text is a query`;
  throw new ModelFileError(`${file}: ${given[0]}: ${problem}. Remove it`);
}

/**
 * Returns the prompts and the name of the default prompt.
 *
 * @throws ModelFileError if there is no prompt of that name
 */
export function promptsOf({ prompts, default_prompt_name }: SettingsFile): {
  readonly prompts: Readonly<Record<string, string>>;
  readonly defaultPromptName: string | null;
} {
  const given = Object.entries(prompts ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return {
    prompts: Object.fromEntries(given),
    defaultPromptName: requirePrompt(default_prompt_name ?? null, prompts ?? {}),
  };
}

export function similarityOf({ similarity_fn_name: name }: SettingsFile): Similarity {
  return SIMILARITIES.find((one) => one === name) ?? 'cosine';
}

function requirePrompt(name: string | null, prompts: Readonly<Record<string, unknown>>) {
  if (name === null || Object.hasOwn(prompts, name)) return name;
  const known = Object.keys(prompts).join(', ') || 'none';
  throw new ModelFileError(
    `${SETTINGS}: default_prompt_name: "${name}" is not in prompts (${known})`,
  );
}
