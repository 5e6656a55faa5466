import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextHead, TextModelSource } from '../../native/engine';
import { fileSize, ModelFileError } from '../files';
import { readTokenizerFiles } from '../hugging-face/directory';
import { encoderSource } from '../hugging-face/encoder-source';
import { findModelFiles } from '../hugging-face/weight-files';
import { checkModelJson, readModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { GLINER_KEYS } from './keys';
import { labelEncoderKeys, readLabelEncoder } from './label-encoder';

export const GLINER_CONFIG = 'gliner_config.json';

/** Prefix of the keys of the encoder in the weight file. */
const ENCODER = 'token_rep_layer.bert_layer.model';

/** Minimum number of words that consecutive windows of a long text share. */
const OVERLAP = 32;

const NO_ENCODER = {
  error:
    'expected the configuration of the encoder. Save the model with a current version of gliner',
};

const SPAN_MODES = ['marker', 'markerV0', 'markerV1', 'markerV2', 'token_level'] as const;

/** A value, or the default for null and for an absent key. */
function or<Value>(schema: z.ZodType<Value>, value: Value) {
  return schema.nullish().transform((given) => given ?? value);
}

const size = (max: number) => z.int().min(1).max(max);

/** Source: gliner, config.py (`BaseGLiNERConfig`). */
const configSchema = z.looseObject({
  name: z.string().nullish(),
  version: z.string().nullish(),
  encoder_config: z.looseObject({ model_type: z.string().default('deberta-v2') }, NO_ENCODER),
  span_mode: z
    .enum(['token-level', ...SPAN_MODES])
    .nullish()
    .transform((mode) => (mode === 'token-level' ? 'token_level' : (mode ?? 'markerV0'))),
  hidden_size: or(size(65_536), 512),
  max_width: or(size(512), 12),
  max_len: or(size(1_000_000), 384),
  num_rnn_layers: or(z.int().min(0).max(16), 1),
  embed_ent_token: or(z.boolean(), true),
  ent_token: or(z.string().min(1), '<<ENT>>'),
  sep_token: or(z.string().min(1), '<<SEP>>'),
  ...labelEncoderKeys,
});

export interface GlinerFiles {
  readonly source: TextModelSource;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly metadata: {
    readonly name: string | null;
    readonly version: string | null;
    /** Maximum number of words of a span; null: no limit. */
    readonly maxWidth: number | null;
  };
}

/** Whether a folder contains a GLiNER model. */
export function isGliner(directory: string): boolean {
  return fileSize(directory, GLINER_CONFIG) !== null;
}

/**
 * Returns the model folder of a path to a folder or to a file in a folder; null if it contains no
 * GLiNER model.
 */
export function findGlinerFolder(location: string): string | null {
  const isFolder = statSync(location, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? location : path.dirname(location));
  return isGliner(folder) ? folder : null;
}

/**
 * Reads a folder that `GLiNER.save_pretrained` wrote, except the weights and the tokenizer.
 *
 * @throws ModelFileError
 */
export function readGliner(directory: string): GlinerFiles {
  const content = readModelJson(directory, GLINER_CONFIG);
  if (content === undefined)
    throw new ModelFileError(`${GLINER_CONFIG}: not found in ${directory}`);
  checkKeys(GLINER_KEYS, GLINER_CONFIG, content);
  const config = checkModelJson(GLINER_CONFIG, configSchema, content);
  const found = findModelFiles(directory);
  if ('program' in found) {
    const name = path.basename(found.program);
    throw new ModelFileError(`${name}: expected weights of GLiNER, found a program`);
  }
  const { weightFiles } = found;
  const isTokenLevel = config.span_mode === 'token_level';
  const head: TextHead = {
    name: 'gliner',
    mode: config.span_mode,
    hiddenSize: config.hidden_size,
    maxWidth: config.max_width,
    lstmLayers: config.num_rnn_layers,
  };
  const labels = readLabelEncoder(directory, config, weightFiles);
  return {
    source: {
      ...encoderSource(directory, config.encoder_config, {
        configLocation: `${GLINER_CONFIG}: encoder_config.`,
        weightFiles,
        head,
      }),
      basePrefix: ENCODER,
      ...(labels && {
        labelEncoder: labels.labelEncoder,
        // Both encoders are loaded together.
        configLocation: `${GLINER_CONFIG}: encoder_config or labels_encoder_config: `,
      }),
      entityPrompt: {
        entityToken: config.ent_token,
        separator: config.sep_token,
        labelAfterEntityToken: !config.embed_ent_token,
        maxWords: config.max_len,
        overlap: Math.max(OVERLAP, config.max_width),
      },
    },
    files: [
      path.join(directory, GLINER_CONFIG),
      ...readTokenizerFiles(directory),
      ...(labels?.files ?? []),
      ...weightFiles,
    ],
    metadata: {
      name: config.name ?? null,
      version: config.version ?? null,
      maxWidth: isTokenLevel ? null : config.max_width,
    },
  };
}
