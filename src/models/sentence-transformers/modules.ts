import path from 'node:path';
import { z } from 'zod';
import type { PoolingMode, SentenceModule, TextHead } from '../../native/engine';
import { fileSize, ModelFileError } from '../files';
import { findModelFiles, hasProgram } from '../hugging-face/weight-files';
import { checkModelJson, quoted, readModelJson, requireModelJson } from '../json';
import { MODULE_CONFIGS, MODULES_JSON } from '../keys/sentence-transformers';
import { checkKeys } from '../keys/table';
import { settingsFolder } from '../peft/adapter';
import { type ChainedModule, MODULES, SENTENCE, type Splade, TOKENS } from './chain';

const CONFIG = 'config.json';

/** Relative path of a folder below the model folder: no `..`, not absolute. */
const FOLDER = /^(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,255}$/u;

const modulesSchema = z
  .array(
    z.looseObject({
      path: z
        .string()
        .transform((name) => (name === '.' ? '' : name)) // as model2vec writes it
        .refine((name) => name === '' || FOLDER.test(name), 'expected the name of a folder'),
      type: z.string(),
      name: z.string().nullish(),
    }),
  )
  .min(1, 'names no module')
  .refine((modules) => {
    const names = modules.flatMap(({ name }) => name ?? []);
    return new Set(names).size === names.length;
  }, 'name: expected another name for each module');

/** Entry of modules.json. */
export interface ListedModule {
  /** Class name without its Python module: `Pooling`. Versions of the library moved the classes. */
  readonly type: string;
  /** Path relative to the model folder; empty: the model folder. */
  readonly path: string;
}

/**
 * Reads modules.json, of an adapter or its base; null if the file does not exist.
 *
 * @throws ModelFileError
 */
export function listModules(folder: string): readonly ListedModule[] | null {
  const directory = settingsFolder(folder);
  if (fileSize(directory, MODULES) === null) return null;
  const modules = requireModelJson(directory, MODULES, modulesSchema);
  for (const [index, module] of modules.entries()) {
    checkKeys(MODULES_JSON, `${MODULES}: ${index}`, module);
  }
  return modules.map((module) => ({
    type: module.type.split('.').at(-1) as string,
    path: module.path,
  }));
}

/**
 * Pooling modes by their boolean key, in the order in which the library concatenates the
 * embeddings.
 */
const MODE_FLAGS: Readonly<Record<string, PoolingMode>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean_sqrt_len_tokens',
  pooling_mode_weightedmean_tokens: 'weightedmean',
  pooling_mode_lasttoken: 'lasttoken',
};

const MODES = Object.values(MODE_FLAGS);

const mode = z.enum(MODES, { error: `expected ${MODES.join(', ')}` });

const poolingSchema = z.looseObject({
  pooling_mode: z.union([mode.transform((one) => [one]), z.array(mode).min(1)]).nullish(),
  include_prompt: z.boolean().nullish(),
});

/** Activations by PyTorch class name, as config.json of transformers names them. */
const ACTIVATIONS: Readonly<Record<string, string>> = {
  'torch.nn.modules.activation.GELU': 'gelu',
  'torch.nn.modules.activation.ReLU': 'relu',
  'torch.nn.modules.activation.SiLU': 'silu',
  'torch.nn.modules.activation.Sigmoid': 'sigmoid',
  'torch.nn.modules.activation.Tanh': 'tanh',
  'torch.nn.modules.linear.Identity': 'linear',
};

const size = z.int().positive();
const denseSchema = z.looseObject({
  in_features: size,
  out_features: size,
  bias: z.boolean().default(true),
  activation_function: z.string().default('torch.nn.modules.activation.Tanh'),
  use_residual: z.boolean().default(false),
});

/** Names of the input and output features; absent: the default of the module. */
const namesSchema = z.looseObject({
  module_input_name: z.string().nullish(),
  module_output_name: z.string().nullish(),
});

type Does = ChainedModule['operation'];

/**
 * Reads a module after the encoder. If the model is a program, the program contains the module and
 * the module has no weights.
 *
 * @param denseReads input feature of a Dense module whose file specifies no feature
 * @returns null for a MultiVectorMask, see `readMask`
 * @throws ModelFileError
 */
export function readModule(
  directory: string,
  { type, path: name }: ListedModule,
  denseReads: string,
): ChainedModule | null {
  const make = (does: Does, reads: string, writes = reads, isOptional = false) => {
    return { name: name || type, operation: does, reads, writes, isOptional };
  };
  /** Creates a module with configurable feature names. */
  const named = (does: Does, otherwise: string, isOptional: boolean) => {
    const config = readOptionalConfig(directory, name, namesSchema);
    const reads = config.module_input_name ?? otherwise;
    return make(does, reads, config.module_output_name ?? reads, isOptional);
  };
  switch (type) {
    case 'Pooling':
      return make(readPooling(directory, name), TOKENS, SENTENCE);
    case SPLADE:
      return make({ type: 'splade', ...readSplade(directory, name) }, TOKENS, SENTENCE);
    case 'Dense':
      return named(readDense(directory, name), denseReads, false);
    case 'LayerNorm': {
      const { dimension } = readConfig(directory, name, z.looseObject({ dimension: size }), type);
      const weightFiles = weightFilesOf(directory, name);
      return make({ type: 'layer-norm', weightFiles, dimension }, SENTENCE);
    }
    case 'Normalize':
      return named({ type: 'normalize' }, SENTENCE, true);
    case 'Dropout':
      return make(null, SENTENCE);
    case MASK:
      return null;
    default:
      throw new ModelFileError(
        `${MODULES}: type: ${quoted(type)} is not supported: expected Transformer, then Pooling, Dense, ` +
          'LayerNorm, Normalize, Dropout, SpladePooling or MultiVectorMask',
      );
  }
}

/** Class name in modules.json. */
export const MASK = 'MultiVectorMask';

const maskSchema = z.looseObject({
  skiplist_words: z.array(z.string()).nullish(),
  skiplist_tasks: z.union([z.string().transform((one) => [one]), z.array(z.string())]).nullish(),
});

/** Selects the tokens without an embedding in late-interaction models. */
export interface TokenMask {
  readonly skipped: readonly string[];
  /**
   * Text types whose tokens are skipped: "query", "document". Texts without a type count as
   * "document".
   */
  readonly tasks: readonly string[];
}

/**
 * Reads the settings of a MultiVectorMask.
 *
 * @throws ModelFileError
 */
export function readMask(directory: string, { path: name }: ListedModule): TokenMask {
  const config = readConfig(directory, name, maskSchema, MASK);
  return { skipped: config.skiplist_words ?? [], tasks: config.skiplist_tasks ?? ['document'] };
}

/** Class name in modules.json. */
export const LOGIT_SCORE = 'LogitScore';

const tokenId = z.int().nonnegative();
const logitScoreSchema = z.looseObject({
  true_token_id: tokenId,
  false_token_id: tokenId.nullish(),
  module_input_name: z.literal('causal_logits').nullish(),
});

/**
 * Reads the settings of a LogitScore.
 *
 * @throws ModelFileError
 */
export function readLogitScore(directory: string, { path: name }: ListedModule): TextHead {
  const config = readConfig(directory, name, logitScoreSchema, LOGIT_SCORE);
  return {
    name: 'logit-score',
    trueToken: config.true_token_id,
    ...(config.false_token_id != null && { falseToken: config.false_token_id }),
  };
}

const SPLADE = 'SpladePooling';

const spladeSchema = z.looseObject({
  pooling_strategy: z.enum(['max', 'sum']).default('max'),
  activation_function: z.enum(['relu', 'log1p_relu']).default('relu'),
});

function readSplade(directory: string, name: string): Splade {
  const config = readConfig(directory, name, spladeSchema, SPLADE);
  return { pooling: config.pooling_strategy, activation: config.activation_function };
}

function readPooling(directory: string, name: string): SentenceModule {
  const config = readConfig(directory, name, poolingSchema, 'Pooling');
  const flagged = Object.entries(MODE_FLAGS).flatMap(([key, one]) =>
    config[key] === true ? one : [],
  );
  const modes = config.pooling_mode ?? (flagged.length > 0 ? flagged : (['mean'] as const));
  return { type: 'pooling', modes, includePrompt: config.include_prompt ?? true };
}

function readDense(directory: string, name: string): SentenceModule {
  const config = readConfig(directory, name, denseSchema, 'Dense');
  const activationName = config.activation_function;
  const activation = ACTIVATIONS[activationName];
  if (activation === undefined) {
    const names = Object.keys(ACTIVATIONS).join(', ');
    const what = `activation_function: ${quoted(activationName)} is not supported (${names})`;
    throw new ModelFileError(`${name}/${CONFIG}: ${what}`);
  }
  return {
    type: 'dense',
    weightFiles: weightFilesOf(directory, name),
    inFeatures: config.in_features,
    outFeatures: config.out_features,
    bias: config.bias,
    activation,
    residual: config.use_residual,
  };
}

/**
 * Reads and validates the configuration of a module.
 *
 * @param type class name, which selects the valid keys
 */
function readConfig<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
  type: keyof typeof MODULE_CONFIGS,
): z.output<Schema> {
  return withFolder(name, () => {
    const config = requireModelJson(path.join(directory, name), CONFIG, schema);
    checkKeys(MODULE_CONFIGS[type], CONFIG, config);
    return config;
  });
}

/** Reads the configuration of a module whose file is optional: older versions wrote no file. */
function readOptionalConfig<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  return withFolder(name, () => {
    const content = readModelJson(path.join(directory, name), CONFIG) ?? {};
    return checkModelJson(CONFIG, schema, content);
  });
}

function weightFilesOf(directory: string, name: string): readonly string[] {
  if (hasProgram(directory)) return [];
  const found = withFolder(name, () => findModelFiles(path.join(directory, name)));
  if ('weightFiles' in found) return found.weightFiles;
  throw new ModelFileError(`${name}: expected weights, found a program`);
}

/** Adds the folder of a module to error messages. */
export function withFolder<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModelFileError) || name === '') throw error;
    throw new ModelFileError(`${name}/${error.message}`);
  }
}
