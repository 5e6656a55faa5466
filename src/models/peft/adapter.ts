import path from 'node:path';
import { z } from 'zod';
import { existingFiles, fileSize, ModelFileError } from '../files';
import { SAVED_WEIGHTS } from '../hugging-face/weight-names';
import { checkModelJson, quoted, readModelJson } from '../json';
import { ADAPTER_CONFIG } from '../keys/peft';
import { checkKeys } from '../keys/table';
import { ADAPTER_SETTINGS, findBaseFolder } from './base-folder';

const WEIGHTS = 'adapter_model.safetensors';
const PICKLED_WEIGHTS = 'adapter_model.bin';
const CONFIG = 'config.json';
const MODULES = 'modules.json';
const CROSS_ENCODER = 'CrossEncoder';

/** Files of which each tokenizer has one. */
const VOCABULARIES = [
  ...['tokenizer.json', 'vocab.txt', 'vocab.json'],
  ...['sentencepiece.bpe.model', 'spiece.model', 'spm.model', 'tokenizer.model'],
];

/** Maximum rank of an update. Ranks above the hidden size have no use. */
const MAX_RANK = 65_536;
const rank = z.int().positive().max(MAX_RANK);

/**
 * Key of rank_pattern and alpha_pattern: the end of a module path, or a whole path after `^`. The
 * reference reads a regular expression, of which no other syntax is supported.
 */
const pattern = z
  .string()
  .regex(/^\^?[\w.-]+$/, 'expected the end of a module path, without regular expressions');

const settingsSchema = z.looseObject({
  peft_type: z.literal('LORA', { error: ({ input }) => `expected "LORA", found ${quoted(input)}` }),
  base_model_name_or_path: z.string().nullish(),
  task_type: z.string().nullish(),
  auto_mapping: z.looseObject({ base_model_class: z.string().nullish() }).nullish(),
  r: rank.default(8),
  lora_alpha: z.number().default(8),
  use_rslora: z.boolean().nullish(),
  rank_pattern: z.record(pattern, rank).nullish(),
  alpha_pattern: z.record(pattern, z.number()).nullish(),
});

export type AdapterSettings = z.output<typeof settingsSchema>;

/** Folder of a LoRA adapter as peft writes it. */
export interface AdapterFolder {
  /** Absolute path of the folder. */
  readonly folder: string;
  /** Absolute path of the folder of the base model. */
  readonly base: string;
  /** Absolute path of the LoRA factors and the replaced tensors. */
  readonly weightFile: string;
  /** Content of adapter_config.json. */
  readonly settings: AdapterSettings;
}

/**
 * Reads the settings of an adapter and finds its base model. A folder with the weights of a model
 * is its own base, as in transformers (`maybe_adapter_path` of auto_factory.py).
 *
 * @returns null if the folder contains no adapter
 * @throws ModelFileError
 */
export function findAdapter(folder: string): AdapterFolder | null {
  const content = readModelJson(folder, ADAPTER_SETTINGS);
  if (content === undefined) return null;
  const settings = checkModelJson(ADAPTER_SETTINGS, settingsSchema, content);
  checkKeys(ADAPTER_CONFIG, ADAPTER_SETTINGS, content);
  if (fileSize(folder, WEIGHTS) === null) throw new ModelFileError(describeMissingWeights(folder));
  const isOwnBase = SAVED_WEIGHTS.some((name) => fileSize(folder, name) !== null);
  const base = isOwnBase
    ? folder
    : findBaseFolder(folder, settings.base_model_name_or_path ?? null);
  return { folder, base, weightFile: path.join(folder, WEIGHTS), settings };
}

function describeMissingWeights(folder: string): string {
  if (fileSize(folder, PICKLED_WEIGHTS) === null) return `${WEIGHTS}: not found`;
  return (
    `${PICKLED_WEIGHTS}: expected ${WEIGHTS}. ` +
    'Load the adapter with a current release of peft and save it again'
  );
}

/** Returns the folder of the weights of a model: the base of an adapter, or the model folder. */
export function weightsFolder(folder: string): string {
  return findAdapter(folder)?.base ?? folder;
}

/** Returns the folder of the tokenizer: the adapter's own, or the tokenizer of its base. */
export function tokenizerFolder(folder: string): string {
  const adapter = findAdapter(folder);
  if (adapter === null || existingFiles(folder, VOCABULARIES).length > 0) return folder;
  return adapter.base;
}

/**
 * Returns the folder of the settings of sentence-transformers: the adapter's own, or those of its
 * base if the adapter has the same task.
 */
export function settingsFolder(folder: string): string {
  const adapter = findAdapter(folder);
  if (adapter === null || fileSize(folder, MODULES) !== null) return folder;
  const { base, settings } = adapter;
  switch (settings.task_type ?? null) {
    case null:
    case 'CAUSAL_LM':
    case 'FEATURE_EXTRACTION':
      return base;
    case 'SEQ_CLS':
      return isCrossEncoder(base) ? base : folder;
    default:
      return folder;
  }
}

function isCrossEncoder(base: string): boolean {
  const name = 'config_sentence_transformers.json';
  const schema = z.looseObject({ model_type: z.string().nullish() });
  const { model_type } = checkModelJson(name, schema, readModelJson(base, name) ?? {});
  return model_type === CROSS_ENCODER;
}

/** Returns the absolute paths of the files of an adapter, except its tokenizer. */
export function adapterFiles({ folder }: AdapterFolder): readonly string[] {
  return existingFiles(folder, [ADAPTER_SETTINGS, WEIGHTS, CONFIG]);
}
