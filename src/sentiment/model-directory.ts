import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextModelSource, TorchScriptTextSource } from '../native/engine';
import { labelNames } from './labels';
import { chooseScoreFunction, type ScoreFunction } from './probabilities';

/**
 * Where `save_pretrained` puts weights, in the order in which they are looked for (transformers
 * 5.23, modeling_utils.py, `_get_resolved_checkpoint_files`); an index names its shards.
 */
const SAVED_WEIGHTS = [
  'model.safetensors',
  'model.safetensors.index.json',
  'pytorch_model.bin',
  'pytorch_model.bin.index.json',
];

/** Looked for last: a TorchScript file, which is a model of any kind with its weights. */
const TORCHSCRIPT = 'model.pt';

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

const CONFIG = 'config.json';

/** Objects of config.json that only TypeScript reads; a classifier may have thousands of labels. */
const LABEL_TABLES: ReadonlySet<string> = new Set(['id2label', 'label2id']);

/** `<file>: <key>: <what is wrong, what was expected>`, files relative to the model directory. */
export class ModelDirectoryError extends Error {
  override readonly name = 'ModelDirectoryError';
}

/** What TypeScript needs of config.json; the native side reads its own keys, `model_type` too. */
const configSchema = z.looseObject({
  model_type: z.string(),
  num_labels: z.int().positive().nullish(),
  id2label: z
    .record(z.string().regex(/^\d+$/, 'expected numeric keys'), z.string())
    .refine((labels) => Object.keys(labels).length > 0, 'names no labels')
    .nullish(),
  problem_type: z
    .enum(['regression', 'single_label_classification', 'multi_label_classification'])
    .nullish(),
  function_to_apply: z.enum(['softmax', 'sigmoid', 'none']).nullish(),
});

type ModelConfig = z.output<typeof configSchema>;

/** A TorchScript file needs no architecture; weights do. */
const architectureSchema = z.looseObject({
  architectures: z
    .array(z.string())
    .nullish()
    .refine((names) => !names || names.some((name) => name.endsWith('ForSequenceClassification')), {
      error: ({ input }) => `expected a model for sequence classification, found ${String(input)}`,
    }),
});

/** What limits the length of a text, read here only for TorchScript models. */
const positionsSchema = z.looseObject({
  max_position_embeddings: z.int().positive().nullish(),
  pad_token_id: z.int().nullish(),
});

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

export interface ModelDirectory {
  readonly source: TextModelSource | TorchScriptTextSource;
  /** Names of the model's outputs, in order. */
  readonly labels: readonly string[];
  readonly scoreFunction: ScoreFunction;
  /** config.json's "name" and "version", which are nobody's but the operator's; null: not there. */
  readonly name: string | null;
  readonly version: string | null;
}

/**
 * Reads what Hugging Face `save_pretrained` wrote, but for the weights and the tokenizer, which
 * the native side opens.
 *
 * @throws ModelDirectoryError
 */
export function readModelDirectory(directory: string): ModelDirectory {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ModelDirectoryError(`${directory}: expected a model directory, found none`);
  }
  const config = readJson(directory, CONFIG, configSchema);
  const numLabels = countLabels(config);
  const problemType = config.problem_type ?? null;
  if (problemType === 'single_label_classification' && numLabels === 1) {
    throw new ModelDirectoryError(
      `${CONFIG}: problem_type: single_label_classification needs at least 2 labels, found 1`,
    );
  }
  return {
    source: findSource(directory, config, numLabels),
    labels: labelNames(config.id2label, numLabels),
    scoreFunction: chooseScoreFunction({
      problemType,
      numLabels,
      functionToApply: config.function_to_apply ?? null,
    }),
    name: stringOrNull(config.name),
    version: stringOrNull(config.version),
  };
}

/** A model of somebody else's may have keys of these names for other things: no reason to refuse it. */
function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/**
 * `id2label` decides, `num_labels` only where it is absent, and a configuration with neither has
 * two labels (transformers 5.23, configuration_utils.py, `PreTrainedConfig.__post_init__`).
 */
function countLabels(config: ModelConfig): number {
  if (config.id2label) return Object.keys(config.id2label).length;
  return config.num_labels ?? 2;
}

function findSource(
  directory: string,
  config: ModelConfig,
  numLabels: number,
): TextModelSource | TorchScriptTextSource {
  const weightFiles = findWeights(directory);
  if (!weightFiles) {
    return {
      type: 'torchscript-text-classification',
      path: path.join(directory, TORCHSCRIPT),
      numLabels,
      positionLimit: positionLimit(config),
      tokenizerDirectory: directory,
    };
  }
  check(CONFIG, architectureSchema, config);
  return {
    type: 'text-classification',
    modelType: config.model_type,
    config: { ...flatten(config), num_labels: numLabels },
    weightFiles,
    tokenizerDirectory: directory,
  };
}

/**
 * Tokens that a TorchScript model of this configuration has positions for; the tokenizer's own limit
 * may be lower.
 */
function positionLimit(config: ModelConfig): number {
  const { max_position_embeddings, pad_token_id } = check(CONFIG, positionsSchema, config);
  const positions = max_position_embeddings ?? Number.MAX_SAFE_INTEGER;
  if (!POSITIONS_AFTER_PADDING.includes(config.model_type)) return positions;
  return Math.max(1, positions - (pad_token_id ?? 1) - 1);
}

type Scalar = string | number | boolean | null;

/** Entries of nested objects and lists get their path as key: `layer_types.0`. */
function flatten(value: object, prefix = ''): Record<string, Scalar> {
  const flat: Record<string, Scalar> = {};
  for (const [key, entry] of Object.entries(value as Record<string, unknown>)) {
    if (LABEL_TABLES.has(prefix + key)) continue;
    if (typeof entry === 'object' && entry !== null) {
      Object.assign(flat, flatten(entry, `${prefix}${key}.`));
    } else {
      flat[prefix + key] = entry as Scalar; // JSON has no other types
    }
  }
  return flat;
}

/** Absolute paths of the weight files; null where the model is a TorchScript file. */
function findWeights(directory: string): readonly string[] | null {
  const has = (name: string): boolean => existsSync(path.join(directory, name));
  const name = SAVED_WEIGHTS.find(has);
  if (name?.endsWith('.json')) return findShards(directory, name);
  if (name) return [path.join(directory, name)];
  if (has(TORCHSCRIPT)) return null;
  const [first, ...others] = [...SAVED_WEIGHTS, TORCHSCRIPT];
  throw new ModelDirectoryError(`${first}: not found, nor ${others.join(', nor ')}`);
}

function findShards(directory: string, index: string): readonly string[] {
  const { weight_map } = readJson(directory, index, indexSchema);
  const extension = path.extname(index.replace(/\.index\.json$/, ''));
  const names = [...new Set(Object.values(weight_map))].sort();
  if (names.length === 0) throw new ModelDirectoryError(`${index}: weight_map: names no weights`);
  for (const name of names) {
    if (/[/\\]/.test(name) || path.extname(name) !== extension) {
      throw new ModelDirectoryError(
        `${index}: weight_map: expected the name of a ${extension} file beside it, ` +
          `found ${JSON.stringify(name)}`,
      );
    }
    if (!existsSync(path.join(directory, name))) {
      throw new ModelDirectoryError(`${name}: not found, but named in ${index}`);
    }
  }
  return names.map((name) => path.join(directory, name));
}

function readJson<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path.join(directory, name), 'utf8'));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isMissing ? `not found in ${directory}` : (error as Error).message;
    throw new ModelDirectoryError(`${name}: ${reason}`);
  }
  return check(name, schema, content);
}

function check<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  content: unknown,
): z.output<Schema> {
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new ModelDirectoryError(`${name}: ${key}${issue?.message}`);
}
