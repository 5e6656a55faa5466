import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import { existingFiles, ModelFileError } from '../files';
import { checkModelJson, readModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { TOKENIZER_CONFIG } from '../keys/tokenizers';
import { CONFIGS } from '../keys/transformers';
import { adapterFiles, findAdapter, tokenizerFolder, weightsFolder } from '../peft/adapter';
import { readLora } from '../peft/lora';
import { CONFIG, readModelConfig } from './config';
import { translateOriginalConfig, withTransformersKeys } from './original-configs';
import { readAdapterTasks } from './task-adapters';

export { CONFIG } from './config';

const TOKENIZER_SETTINGS = 'tokenizer_config.json';

/**
 * Model types whose position ids start after the padding id, which shortens the usable position
 * table.
 */
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

/** Tokenizer files that the native side reads if present (native/tokenizers). */
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

/**
 * Maximum number of entries of config.json, without label tables. Typical models have about 100.
 */
const MAX_ENTRIES = 10_000;

/** Objects of config.json that only TypeScript reads: a classifier may have thousands of labels. */
const LABEL_TABLES: ReadonlySet<string> = new Set(['id2label', 'label2id']);

/**
 * Keys of config.json that every model has. The native side reads its own keys, including
 * `model_type`.
 */
export const modelConfig = z.looseObject({ model_type: z.string() });

export type ModelConfig = z.output<typeof modelConfig>;

/** Maximum number of positions and padding id. TypeScript reads these keys for programs only. */
const positionsSchema = z.looseObject({
  max_position_embeddings: z.int().positive().nullish(),
  pad_token_id: z.int().nullish(),
});

/** Files of a model folder except the weights. */
export interface ModelFolder<Config> {
  readonly config: Config;
  /** Absolute paths of config.json and the tokenizer files. */
  readonly files: readonly string[];
}

/**
 * Reads a folder that Hugging Face `save_pretrained` or peft wrote, except the weights and the
 * tokenizer, which the native side opens.
 *
 * @param schema schema of config.json
 * @throws ModelFileError
 */
export function readDirectory<Schema extends z.ZodType<ModelConfig>>(
  directory: string,
  schema: Schema,
): ModelFolder<z.output<Schema>> {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ModelFileError(`${directory}: expected a model directory, found none`);
  }
  const content = readModelConfig(directory);
  if (content === undefined) throw new ModelFileError(`${CONFIG}: not found in ${directory}`);
  const config = checkModelJson(CONFIG, schema, content);
  const adapter = findAdapter(directory);
  return {
    config,
    files: [
      path.join(weightsFolder(directory), CONFIG),
      ...readTokenizerFiles(directory),
      ...(adapter ? adapterFiles(adapter) : []),
    ],
  };
}

/**
 * Checks the settings of the tokenizer of a model folder.
 *
 * @returns absolute paths of the tokenizer files
 * @throws ModelFileError
 */
export function readTokenizerFiles(directory: string): readonly string[] {
  const folder = tokenizerFolder(directory);
  checkKeys(TOKENIZER_CONFIG, TOKENIZER_SETTINGS, readModelJson(folder, TOKENIZER_SETTINGS));
  return existingFiles(folder, TOKENIZER_FILES);
}

/**
 * Returns the model folder of a path to a folder or to a file in a folder; null if the path is no
 * folder and no config.json is next to the file.
 */
export function findModelFolder(location: string): string | null {
  const isFolder = statSync(location, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? location : path.dirname(location));
  const hasConfiguration = statSync(path.join(folder, CONFIG), { throwIfNoEntry: false });
  return isFolder || hasConfiguration ? folder : null;
}

/**
 * Returns "name", "version" and "model_type" of config.json. Only the operator of this server sets the first two keys.
 */
export function readIdentity(config: ModelConfig) {
  return {
    name: stringOrNull(config.name),
    version: stringOrNull(config.version),
    modelType: config.model_type,
  };
}

/** Ignores other types: third-party models may use keys with these names for other purposes. */
function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Describes a program with `numLabels` outputs per text, or per token if `ofTokens` is set. */
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

/**
 * Describes weights that an encoder of this project runs.
 *
 * @param added entries that are added to the entries of config.json
 * @throws ModelFileError
 */
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
  const adapter = findAdapter(directory);
  const tasks = readAdapterTasks(directory, config);
  const original = translateOriginalConfig(config);
  // The native side rejects unknown model types.
  const known = Object.hasOwn(CONFIGS, config.model_type) ? CONFIGS[config.model_type] : undefined;
  const keys = original?.keys ?? known;
  if (keys) checkKeys(keys, CONFIG, config);
  const translated = original?.config ?? config;
  return {
    type: 'text-encoder',
    modelType: translated.model_type,
    config: { ...flattened(translated), ...added },
    head,
    weightFiles,
    tokenizerDirectory: tokenizerFolder(directory),
    ...(adapter && { adapter: readLora(adapter) }),
    ...(tasks && { taskAdapters: tasks.adapters }),
  };
}

/**
 * Returns the maximum number of positions, which the tokenizer may reduce further, and the padding
 * id.
 */
function describePositions(
  config: ModelConfig,
): Pick<TextProgramSource, 'positionLimit' | 'paddingId'> {
  const named = withTransformersKeys(config);
  const { max_position_embeddings, pad_token_id } = checkModelJson(CONFIG, positionsSchema, named);
  const positions = max_position_embeddings ?? Number.MAX_SAFE_INTEGER;
  const begin = POSITIONS_AFTER_PADDING.includes(config.model_type) ? (pad_token_id ?? 1) + 1 : 0;
  return {
    positionLimit: Math.max(1, positions - begin),
    // Some models write -1 for "no padding".
    ...(typeof pad_token_id === 'number' && pad_token_id >= 0 && { paddingId: pad_token_id }),
  };
}

type Scalar = string | number | boolean | null;

/** Flattens nested objects and lists to entries with their path as key: `layer_types.0`. */
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
