import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextModelSource } from '../native/engine';
import { labelNames } from './labels';
import { chooseScoreFunction, type ScoreFunction } from './probabilities';

/** Where `save_pretrained` puts weights, in the order in which they are looked for. */
const SAFETENSORS = 'model.safetensors';
const SAFETENSORS_INDEX = 'model.safetensors.index.json';
const PICKLED_WEIGHTS = 'pytorch_model.bin';

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
  architectures: z
    .array(z.string())
    .nullish()
    .refine((names) => !names || names.some((name) => name.endsWith('ForSequenceClassification')), {
      error: ({ input }) => `expected a model for sequence classification, found ${String(input)}`,
    }),
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

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

export interface ModelDirectory {
  readonly source: TextModelSource;
  /** Names of the model's outputs, in order. */
  readonly labels: readonly string[];
  readonly scoreFunction: ScoreFunction;
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
    source: {
      type: 'text-classification',
      modelType: config.model_type,
      config: { ...flatten(config), num_labels: numLabels },
      weightFiles: findWeights(directory),
      tokenizerDirectory: directory,
    },
    labels: labelNames(config.id2label, numLabels),
    scoreFunction: chooseScoreFunction({
      problemType,
      numLabels,
      functionToApply: config.function_to_apply ?? null,
    }),
  };
}

/**
 * `id2label` decides, `num_labels` only where it is absent, and a configuration with neither has
 * two labels (transformers 5.23, configuration_utils.py, `PreTrainedConfig.__post_init__`).
 */
function countLabels(config: z.output<typeof configSchema>): number {
  if (config.id2label) return Object.keys(config.id2label).length;
  return config.num_labels ?? 2;
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

/** Absolute paths of the weight files. */
function findWeights(directory: string): readonly string[] {
  const has = (name: string) => existsSync(path.join(directory, name));
  if (has(SAFETENSORS)) return [path.join(directory, SAFETENSORS)];
  if (has(SAFETENSORS_INDEX)) return findShards(directory);
  if (has(PICKLED_WEIGHTS)) return [path.join(directory, PICKLED_WEIGHTS)];
  throw new ModelDirectoryError(
    `${SAFETENSORS}: not found, nor ${SAFETENSORS_INDEX}, nor ${PICKLED_WEIGHTS}`,
  );
}

function findShards(directory: string): readonly string[] {
  const { weight_map } = readJson(directory, SAFETENSORS_INDEX, indexSchema);
  const names = [...new Set(Object.values(weight_map))].sort();
  if (names.length === 0) {
    throw new ModelDirectoryError(`${SAFETENSORS_INDEX}: weight_map: names no weights`);
  }
  for (const name of names) {
    if (!/^[^/\\]+\.safetensors$/.test(name)) {
      throw new ModelDirectoryError(
        `${SAFETENSORS_INDEX}: weight_map: expected the name of a .safetensors file beside it, ` +
          `found ${JSON.stringify(name)}`,
      );
    }
    if (!existsSync(path.join(directory, name))) {
      throw new ModelDirectoryError(`${name}: not found, but named in ${SAFETENSORS_INDEX}`);
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
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new ModelDirectoryError(`${name}: ${key}${issue?.message}`);
}
