import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { filesThere, ModelFileError } from '../../models/files';
import { checkModelJson, requireModelJson } from '../../models/json';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import type { ClassifierAbout } from '../abilities';
import {
  chooseScoreFunction,
  PROBLEM_TYPES,
  SCORE_FUNCTIONS,
  type ScoreFunction,
} from './probabilities';
import { findModel } from './weight-files';

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

/** What the native side reads of a tokenizer, where it is there (native/hf). */
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

/** More than any classifier has; to name that many takes 60 MB. */
const MOST_LABELS = 1_000_000;

/** Of config.json without the tables of labels; a model has about 100. */
const MOST_ENTRIES = 10_000;

/** Objects of config.json that only TypeScript reads; a classifier may have thousands of labels. */
const LABEL_TABLES: ReadonlySet<string> = new Set(['id2label', 'label2id']);

/** What TypeScript needs of config.json; the native side reads its own keys, `model_type` too. */
const configSchema = z.looseObject({
  model_type: z.string(),
  num_labels: z.int().positive().max(MOST_LABELS).nullish(),
  id2label: z
    .record(z.string().regex(/^\d+$/, 'expected numeric keys'), z.string())
    .refine((labels) => Object.keys(labels).length > 0, 'names no labels')
    .nullish(),
  problem_type: z.enum(PROBLEM_TYPES).nullish(),
  function_to_apply: z.enum(SCORE_FUNCTIONS).nullish(),
});

type ModelConfig = z.output<typeof configSchema>;

/** A program needs no architecture; weights do. */
const architectureSchema = z.looseObject({
  architectures: z
    .array(z.string())
    .nullish()
    .refine((names) => !names || names.some((name) => name.endsWith('ForSequenceClassification')), {
      error: ({ input }) => `expected a model for sequence classification, found ${String(input)}`,
    }),
});

/** What limits the length of a text, and fills up short ones; read here only for programs. */
const positionsSchema = z.looseObject({
  max_position_embeddings: z.int().positive().nullish(),
  pad_token_id: z.int().nullish(),
});

/** Name and version are config.json's "name" and "version", which are nobody's but the operator's. */
export interface TextAbout extends ClassifierAbout {
  readonly scoreFunction: ScoreFunction;
}

export interface ModelDirectory {
  readonly source: TextModelSource | TextProgramSource;
  /** Absolute paths of all that is read of the folder: configuration, tokenizer, weights or program. */
  readonly files: readonly string[];
  readonly about: TextAbout;
}

/**
 * Reads what Hugging Face `save_pretrained` wrote, but for the weights and the tokenizer, which
 * the native side opens.
 *
 * @throws ModelFileError
 */
export function readModelDirectory(directory: string): ModelDirectory {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ModelFileError(`${directory}: expected a model directory, found none`);
  }
  const config = requireModelJson(directory, CONFIG, configSchema);
  const tokenizerFiles = filesThere(directory, TOKENIZER_FILES);
  const numLabels = countLabels(config);
  const problemType = config.problem_type ?? null;
  if (problemType === 'single_label_classification' && numLabels === 1) {
    throw new ModelFileError(
      `${CONFIG}: problem_type: single_label_classification needs at least 2 labels, found 1`,
    );
  }
  const source = findSource(directory, config, numLabels);
  return {
    source,
    files: [
      path.join(directory, CONFIG),
      ...tokenizerFiles,
      ...('weightFiles' in source ? source.weightFiles : [source.path]),
    ],
    about: {
      name: stringOrNull(config.name),
      version: stringOrNull(config.version),
      labels: labelNames(config.id2label, numLabels),
      scoreFunction: chooseScoreFunction(problemType, numLabels),
    },
  };
}

/** Names of a classifier's outputs in order: `id2label`, and `LABEL_i` where it names none. */
export function labelNames(
  id2label: Readonly<Record<string, string>> | null | undefined,
  count: number,
): readonly string[] {
  return Array.from({ length: count }, (_, index) => id2label?.[String(index)] ?? `LABEL_${index}`);
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
): TextModelSource | TextProgramSource {
  const found = findModel(directory);
  if ('program' in found) {
    return {
      type: 'text-program',
      path: found.program,
      numLabels,
      ...describePositions(config),
      tokenizerDirectory: directory,
    };
  }
  checkModelJson(CONFIG, architectureSchema, config);
  return {
    type: 'text-classification',
    modelType: config.model_type,
    config: { ...flattened(config), num_labels: numLabels },
    weightFiles: found.weightFiles,
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
    if (flat.size > MOST_ENTRIES) {
      throw new ModelFileError(`${CONFIG}: has more than ${MOST_ENTRIES} entries`);
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
