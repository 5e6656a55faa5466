import path from 'node:path';
import { z } from 'zod';
import type { PoolingMode, SentenceModule, TextHead } from '../../native/engine';
import { ModelFileError, sizeOf } from '../files';
import { findModel, hasProgram } from '../hugging-face/weight-files';
import { quoted, requireModelJson } from '../json';

export const MODULES = 'modules.json';

const CONFIG = 'config.json';

/** A folder below the model's: no way up, no absolute path. */
const FOLDER = /^(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,255}$/u;

const modulesSchema = z
  .array(
    z.looseObject({
      path: z
        .string()
        .refine((name) => name === '' || FOLDER.test(name), 'expected the name of a folder'),
      type: z.string(),
    }),
  )
  .min(1, 'names no module');

/** An entry of modules.json. */
export interface ListedModule {
  /** The class, without where it is defined: `Pooling`. Versions of the library moved the classes. */
  readonly type: string;
  /** Of the model's folder; empty: the folder itself. */
  readonly path: string;
}

/** What modules.json lists; null: there is no such file. @throws ModelFileError */
export function listModules(directory: string): readonly ListedModule[] | null {
  if (sizeOf(directory, MODULES) === null) return null;
  return requireModelJson(directory, MODULES, modulesSchema).map((module) => ({
    type: module.type.split('.').at(-1) as string,
    path: module.path,
  }));
}

/** Of the files that say it by a flag each, in the order in which the library puts vectors side by side. */
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

/** By the classes of PyTorch that sentence-transformers may name, as config.json of transformers names them. */
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

/**
 * Reads a module behind the encoder. Where the model is a program, it is part of it, and has no weights.
 *
 * @returns null: it does nothing when a model answers
 * @throws ModelFileError
 */
export function readModule(
  directory: string,
  { type, path: name }: ListedModule,
): SentenceModule | null {
  switch (type) {
    case 'Pooling':
      return readPooling(directory, name);
    case 'Dense':
      return readDense(directory, name);
    case 'LayerNorm': {
      const { dimension } = readConfig(directory, name, z.looseObject({ dimension: size }));
      return { type: 'layer-norm', weightFiles: weightFilesOf(directory, name), dimension };
    }
    case 'Normalize':
      return { type: 'normalize' };
    case 'Dropout':
    case MASK:
      return null;
    default:
      throw new ModelFileError(
        `${MODULES}: type: ${quoted(type)} is not supported: expected Transformer, then Pooling, Dense, ` +
          'LayerNorm, Normalize, Dropout or MultiVectorMask',
      );
  }
}

/** Its type in modules.json. */
export const MASK = 'MultiVectorMask';

const maskSchema = z.looseObject({
  skiplist_words: z.array(z.string()).nullish(),
  skiplist_tasks: z.union([z.string().transform((one) => [one]), z.array(z.string())]).nullish(),
  keep_only_token_ids: z.array(z.int()).nullish(),
});

/** Which tokens have no vector in models of late interaction. */
export interface TokenMask {
  readonly skipped: readonly string[];
  /** What texts are whose tokens are skipped: "query", "document", which is also what says nothing. */
  readonly tasks: readonly string[];
}

/** @throws ModelFileError */
export function readMask(directory: string, { path: name }: ListedModule): TokenMask {
  const config = readConfig(directory, name, maskSchema);
  if (config.keep_only_token_ids?.length) {
    const what = 'keep_only_token_ids: is for models of images, which are not supported';
    throw new ModelFileError(`${name}/${CONFIG}: ${what}`);
  }
  return { skipped: config.skiplist_words ?? [], tasks: config.skiplist_tasks ?? ['document'] };
}

/** Its type in modules.json. */
export const SPLADE = 'SpladePooling';

const spladeSchema = z.looseObject({
  pooling_strategy: z.enum(['max', 'sum']).default('max'),
  activation_function: z.enum(['relu', 'log1p_relu']).default('relu'),
});

export type Splade = Pick<Extract<TextHead, { name: 'masked-lm' }>, 'pooling' | 'activation'>;

/** @throws ModelFileError */
export function readSplade(directory: string, { path: name }: ListedModule): Splade {
  const config = readConfig(directory, name, spladeSchema);
  return { pooling: config.pooling_strategy, activation: config.activation_function };
}

function readPooling(directory: string, name: string): SentenceModule {
  const config = readConfig(directory, name, poolingSchema);
  const flagged = Object.entries(MODE_FLAGS).flatMap(([key, one]) =>
    config[key] === true ? one : [],
  );
  const modes = config.pooling_mode ?? (flagged.length > 0 ? flagged : (['mean'] as const));
  return { type: 'pooling', modes, includePrompt: config.include_prompt ?? true };
}

function readDense(directory: string, name: string): SentenceModule {
  const config = readConfig(directory, name, denseSchema);
  const given = config.activation_function;
  const activation = ACTIVATIONS[given];
  if (activation === undefined) {
    const known = Object.keys(ACTIVATIONS).join(', ');
    const what = `activation_function: ${quoted(given)} is not supported (${known})`;
    throw new ModelFileError(`${name}/${CONFIG}: ${what}`);
  }
  return {
    type: 'dense',
    weightFiles: weightFilesOf(directory, name),
    ...{ inFeatures: config.in_features, outFeatures: config.out_features },
    ...{ bias: config.bias, activation, residual: config.use_residual },
  };
}

function readConfig<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  return within(name, () => requireModelJson(path.join(directory, name), CONFIG, schema));
}

function weightFilesOf(directory: string, name: string): readonly string[] {
  if (hasProgram(directory)) return [];
  const found = within(name, () => findModel(path.join(directory, name)));
  if ('weightFiles' in found) return found.weightFiles;
  throw new ModelFileError(`${name}: expected weights, found a program`);
}

/** Errors of a module's files name its folder. */
export function within<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModelFileError) || name === '') throw error;
    throw new ModelFileError(`${name}/${error.message}`);
  }
}
