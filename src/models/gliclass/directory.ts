import path from 'node:path';
import { z } from 'zod';
import type { GliclassHead, TextModelSource } from '../../native/engine';
import { ModelFileError } from '../files';
import { CONFIG, readTokenizerFiles, weightsSource } from '../hugging-face/directory';
import { withUnlimitedPositions } from '../hugging-face/unlimited-positions';
import { findModelFiles } from '../hugging-face/weight-files';
import { checkModelJson, readModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { GLICLASS_KEYS } from './keys';

const MODEL_TYPE = 'GLiClass';

/** Tokens of the vocabulary before each label, and after the last label. */
export const LABEL_TOKEN = '<<LABEL>>';
export const SEPARATOR_TOKEN = '<<SEP>>';

/** Prefix of the keys of the encoder in the weight files. */
const ENCODER = 'model.encoder_model';

/** Maximum number of tokens, the default of `ZeroShotClassificationPipeline`. */
const MAX_LENGTH = 1024;

const POOLINGS = [
  ...(['first', 'last', 'max', 'avg', 'sum', 'rms', 'abs_max', 'abs_avg'] as const),
  'pass',
] as const satisfies readonly GliclassHead['pooling'][];
const SCORERS = [
  ...(['simple', 'weighted-dot', 'mlp', 'hopfield', 'cross-attn'] as const),
] as const satisfies readonly GliclassHead['scorer'][];

/** A value, or the default for null and for an absent key. */
function or<Value>(schema: z.ZodType<Value>, value: Value) {
  return schema.nullish().transform((given) => given ?? value);
}

const size = z.int().min(1).max(65_536);
const tokenId = or(
  z
    .int()
    .min(-1)
    .max(2 ** 24),
  -1,
);

const encoderSchema = z.looseObject({
  model_type: z.string().default('deberta-v2'),
  vocab_size: z.int().positive().nullish(),
  hidden_size: size.nullish(),
});

const configSchema = z.looseObject({
  name: z.string().nullish(),
  version: z.string().nullish(),
  encoder_config: encoderSchema,
  vocab_size: z.int().positive().nullish(),
  class_token_index: tokenId,
  text_token_index: tokenId,
  hidden_size: size.nullish(),
  projector_hidden_act: or(z.string(), 'gelu'),
  pooling_strategy: or(z.enum(POOLINGS), 'first'),
  class_token_pooling: or(z.enum(['first', 'average']), 'first'),
  embed_class_token: or(z.boolean(), true),
  extract_text_features: or(z.boolean(), false),
  prompt_first: or(z.boolean(), false),
  scorer_type: or(z.enum(SCORERS), 'simple'),
  scorer_num_heads: or(size, 16),
  scorer_mlp_hidden_size: or(size.min(2), 1024),
  normalize_features: or(z.boolean(), false),
  use_lstm: or(z.boolean(), false),
});

type Config = z.output<typeof configSchema>;

export interface GliclassMetadata {
  readonly name: string | null;
  readonly version: string | null;
  /** The labels precede the text. */
  readonly isPromptFirst: boolean;
  readonly labelTokenId: number;
  readonly separatorTokenId: number;
}

export interface GliclassFiles {
  readonly source: TextModelSource;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly metadata: GliclassMetadata;
}

/** Whether a folder contains a GLiClass model. */
export function isGliclass(directory: string): boolean {
  try {
    const content = readModelJson(directory, CONFIG) as { readonly model_type?: unknown } | null;
    return content?.model_type === MODEL_TYPE;
  } catch (error) {
    if (error instanceof ModelFileError) return false; // other tasks report the error
    throw error;
  }
}

/**
 * Reads a folder that `GLiClassModel.save_pretrained` wrote, except the weights and the tokenizer.
 *
 * @throws ModelFileError
 */
export function readGliclass(directory: string): GliclassFiles {
  const content = readModelJson(directory, CONFIG);
  if (content === undefined) throw new ModelFileError(`${CONFIG}: not found in ${directory}`);
  checkKeys(GLICLASS_KEYS, CONFIG, content);
  const config = checkModelJson(CONFIG, configSchema, content);
  const found = findModelFiles(directory);
  if ('program' in found) {
    const name = path.basename(found.program);
    throw new ModelFileError(`${name}: expected weights of GLiClass, found a program`);
  }
  const { weightFiles } = found;
  const vocabularySize = requireNumber(
    config.vocab_size ?? config.encoder_config.vocab_size,
    'vocab_size',
  );
  const encoder = withUnlimitedPositions(
    { ...config.encoder_config, vocab_size: vocabularySize },
    MAX_LENGTH,
  );
  const idOf = (index: number, added: number) => (index === -1 ? vocabularySize + added : index);
  const labelTokenId = idOf(config.class_token_index, 0);
  const separatorTokenId = idOf(config.text_token_index, 1);
  return {
    source: {
      ...weightsSource(directory, encoder, { weightFiles, head: toHead(config) }),
      basePrefix: ENCODER,
      maxLength: MAX_LENGTH,
      requiredTokens: [
        { text: LABEL_TOKEN, id: labelTokenId },
        { text: SEPARATOR_TOKEN, id: separatorTokenId },
      ],
    },
    files: [path.join(directory, CONFIG), ...readTokenizerFiles(directory), ...weightFiles],
    metadata: {
      name: config.name ?? null,
      version: config.version ?? null,
      isPromptFirst: config.prompt_first,
      labelTokenId,
      separatorTokenId,
    },
  };
}

function toHead(config: Config): GliclassHead {
  if ((config.scorer_type === 'cross-attn') !== (config.pooling_strategy === 'pass')) {
    throw new ModelFileError(
      `${CONFIG}: pooling_strategy: expected "pass" exactly for the scorer_type "cross-attn", ` +
        `received "${config.pooling_strategy}" and "${config.scorer_type}"`,
    );
  }
  return {
    name: 'gliclass',
    scorer: config.scorer_type,
    pooling: config.pooling_strategy,
    averagesLabel: config.class_token_pooling === 'average',
    omitsLabelToken: !config.embed_class_token,
    textFromSeparator: config.extract_text_features,
    hasLstm: config.use_lstm,
    normalizes: config.normalize_features,
    activation: config.projector_hidden_act,
    hiddenSize: requireNumber(
      config.hidden_size ?? config.encoder_config.hidden_size,
      'hidden_size',
    ),
    attentionHeads: config.scorer_num_heads,
    mlpSize: config.scorer_mlp_hidden_size,
  };
}

function requireNumber(value: number | null | undefined, key: string): number {
  if (typeof value === 'number') return value;
  throw new ModelFileError(`${CONFIG}: ${key}: expected a number, here or in encoder_config`);
}
