import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import { existingFiles, ModelFileError } from '../files';
import { checkModelJson, readModelJson, requireModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { TOKENIZER_CONFIG } from '../keys/tokenizers';
import { CONFIGS } from '../keys/transformers';

export const CONFIG = 'config.json';
const TOKENIZER_SETTINGS = 'tokenizer_config.json';

/** Model types whose positions begin after the padding index, so that the table holds fewer tokens. */
const POSITIONS_AFTER_PADDING = [
  'camembert',
  'data2vec-text',
  'longformer',
  'mpnet',
  'roberta',
  'roberta-prelayernorm',
  'xlm-roberta',
  'xlm-roberta-xl',
];

/** What the native side reads of a tokenizer, where it is there (native/tokenizers). */
const TOKENIZER_FILES = [
  'added_tokens.json',
  'merges.txt',
  'sentencepiece.bpe.model',
  'special_tokens_map.json',
  'spiece.model',
  'spm.model',
  'tokenizer.json',
  'tokenizer.model',
  'tokenizer_config.json',
  'vocab.json',
  'vocab.txt',
];

/** Of config.json without the tables of labels; a model has about 100. */
const MAX_ENTRIES = 10_000;

/** Objects of config.json that only TypeScript reads; a classifier may have thousands of labels. */
const LABEL_TABLES: ReadonlySet<string> = new Set(['id2label', 'label2id']);

/** Of config.json what every model has; the native side reads its own keys, `model_type` too. */
export const modelConfig = z.looseObject({ model_type: z.string() });

export type ModelConfig = z.output<typeof modelConfig>;

/** What limits the length of a text, and fills up short ones; read here only for programs. */
const positionsSchema = z.looseObject({
  max_position_embeddings: z.int().positive().nullish(),
  pad_token_id: z.int().nullish(),
});

/** What a folder has beside the weights. */
export interface ModelFolder<Config> {
  readonly config: Config;
  /** Absolute paths: the configuration, and those of the tokenizer. */
  readonly files: readonly string[];
}

/**
 * Reads what Hugging Face `save_pretrained` wrote, but for the weights and the tokenizer, which the
 * native side opens.
 *
 * @param schema of config.json
 * @throws ModelFileError
 */
export function readDirectory<Schema extends z.ZodType<ModelConfig>>(
  directory: string,
  schema: Schema,
): ModelFolder<z.output<Schema>> {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ModelFileError(`${directory}: expected a model directory, found none`);
  }
  const config = requireModelJson(directory, CONFIG, schema);
  checkKeys(TOKENIZER_CONFIG, TOKENIZER_SETTINGS, readModelJson(directory, TOKENIZER_SETTINGS));
  return {
    config,
    files: [path.join(directory, CONFIG), ...existingFiles(directory, TOKENIZER_FILES)],
  };
}

/** The folder that a path names, or a file in it; null: it has no config.json, and is no folder. */
export function findModelFolder(place: string): string | null {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? place : path.dirname(place));
  const hasConfiguration = statSync(path.join(folder, CONFIG), { throwIfNoEntry: false });
  return isFolder || hasConfiguration ? folder : null;
}

/** config.json's "name" and "version", which are nobody's but the operator's. */
export function readIdentity(config: ModelConfig) {
  return { name: stringOrNull(config.name), version: stringOrNull(config.version) };
}

/** A model of somebody else's may have keys of these names for other things: no reason to refuse it. */
function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** A program of n outputs, for a text or for each of its tokens. */
export function programSource(
  directory: string,
  config: ModelConfig,
  {
    program,
    numLabels,
    ofTokens = false,
  }: { readonly program: string; readonly numLabels: number; readonly ofTokens?: boolean },
): TextProgramSource {
  return {
    type: 'text-program',
    path: program,
    numLabels,
    ofTokens,
    ...describePositions(config),
    tokenizerDirectory: directory,
  };
}

/** Weights that our own encoders run. @param added to config.json's entries @throws ModelFileError */
export function weightsSource(
  directory: string,
  config: ModelConfig,
  {
    weightFiles,
    head,
    added = {},
  }: Pick<TextModelSource, 'weightFiles' | 'head'> & {
    readonly added?: Readonly<Record<string, Scalar>>;
  },
): TextModelSource {
  // The native side says which types it knows.
  const keys = Object.hasOwn(CONFIGS, config.model_type) ? CONFIGS[config.model_type] : undefined;
  if (keys) checkKeys(keys, CONFIG, config);
  return {
    type: 'text-encoder',
    modelType: config.model_type,
    config: { ...flattened(config), ...added },
    head,
    weightFiles,
    tokenizerDirectory: directory,
  };
}

/**
 * Tokens that a program of this configuration has positions for, of which the tokenizer's own limit
 * may leave fewer, and the id of those that stand for none.
 */
function describePositions(
  config: ModelConfig,
): Pick<TextProgramSource, 'positionLimit' | 'paddingId'> {
  const { max_position_embeddings, pad_token_id } = checkModelJson(CONFIG, positionsSchema, config);
  const positions = max_position_embeddings ?? Number.MAX_SAFE_INTEGER;
  const begin = POSITIONS_AFTER_PADDING.includes(config.model_type) ? (pad_token_id ?? 1) + 1 : 0;
  return {
    positionLimit: Math.max(1, positions - begin),
    // Some write -1 for none.
    ...(typeof pad_token_id === 'number' && pad_token_id >= 0 && { paddingId: pad_token_id }),
  };
}

type Scalar = string | number | boolean | null;

/** Entries of nested objects and lists get their path as key: `layer_types.0`. */
function flattened(value: object): Record<string, Scalar> {
  const flat = new Map<string, Scalar>();
  for (const [key, entry] of flatten(value, '')) {
    flat.set(key, entry);
    if (flat.size > MAX_ENTRIES) {
      throw new ModelFileError(`${CONFIG}: has more than ${MAX_ENTRIES} entries`);
    }
  }
  return Object.fromEntries(flat);
}

function* flatten(value: object, prefix: string): Generator<readonly [string, Scalar]> {
  for (const [key, entry] of Object.entries(value as Record<string, unknown>)) {
    if (LABEL_TABLES.has(prefix + key)) continue;
    if (typeof entry === 'object' && entry !== null) yield* flatten(entry, `${prefix}${key}.`);
    else yield [prefix + key, entry as Scalar]; // JSON has no other types
  }
}
