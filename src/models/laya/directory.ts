import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { TextModelSource } from '../../native/engine';
import { fileSize, ModelFileError } from '../files';
import { readTokenizerFiles } from '../hugging-face/directory';
import { encoderSource } from '../hugging-face/encoder-source';
import { checkModelJson, readModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { LAYA_KEYS } from './keys';

export const LAYA_CONFIG = 'rl_agent_config.json';

const ENCODER_CONFIG = 'encoder/config.json';
const TOKENIZER = 'tokenizer';
const WEIGHTS = 'model.safetensors';

/** Prefix of the keys of the encoder in the weight file. */
const ENCODER = 'encoder';

/** Range of the temperatures that laya applies. */
const MIN_TEMPERATURE = 0.5;
const MAX_TEMPERATURE = 5;

const MAX_LENGTH = 65_536;
/** Parallel options need a number for each pair of tokens. */
const MAX_PARALLEL_LENGTH = 4096;

/** Numbers outside the range are clamped; anything else counts as 1, as in laya (`clamp_temperature`). */
const temperature = z.unknown().transform((value): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return 1;
  return Math.min(MAX_TEMPERATURE, Math.max(MIN_TEMPERATURE, number));
});

const configSchema = z.looseObject({
  head_layers: z.int().min(0).max(1000),
  max_len: z.int().min(1).max(MAX_LENGTH).default(512),
  head_max_len: z.int().min(1).max(MAX_LENGTH).default(192),
  temperature: z.tuple([temperature, temperature, temperature]).default([1, 1, 1]),
  temperature_by_options: z.record(z.string(), temperature).default({}),
  act_costs: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((costs) => costs ?? {}),
  option_layout: z
    .enum(['sequential', 'parallel'])
    .nullish()
    .transform((layout) => layout ?? 'sequential'),
});

const encoderSchema = z.looseObject({ model_type: z.string() });

const tokenSchema = z
  .union([z.string().min(1), z.looseObject({ content: z.string().min(1) })], {
    error: 'expected the text of the token',
  })
  .transform((token) => (typeof token === 'string' ? token : token.content));

const tokensSchema = z.looseObject({
  cls_token: tokenSchema,
  sep_token: tokenSchema,
  mask_token: tokenSchema,
  truncation_side: z.enum(['left', 'right']).nullish(),
});

export interface LayaMetadata {
  readonly name: string | null;
  readonly version: string | null;
  /** Maximum number of tokens of a sequence, and of the question and its options. */
  readonly maxLength: number;
  readonly maxHeadLength: number;
  /** Temperatures of choice, score and noul. */
  readonly temperatures: readonly number[];
  /** Temperatures by type and number of options, such as `choice:3-5`. They have precedence. */
  readonly temperaturesByOptions: Readonly<Record<string, number>>;
  /** Texts of special tokens. */
  readonly tokens: { readonly cls: string; readonly sep: string; readonly mask: string };
  /** Options begin at the same position and do not attend to each other. */
  readonly hasParallelOptions: boolean;
  /** The tokenizer truncates options at their start. */
  readonly truncatesLeft: boolean;
}

export interface LayaFiles {
  readonly source: TextModelSource;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly metadata: LayaMetadata;
}

/** Whether a folder contains a Laya model. */
export function isLaya(directory: string): boolean {
  return fileSize(directory, LAYA_CONFIG) !== null;
}

/**
 * Returns the model folder of a path to a folder or to a file in a folder; null if it contains no
 * Laya model.
 */
export function findLayaFolder(location: string): string | null {
  const isFolder = statSync(location, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? location : path.dirname(location));
  return isLaya(folder) ? folder : null;
}

/**
 * Reads the folder of a Laya checkpoint, except the weights and the vocabulary.
 *
 * @throws ModelFileError
 */
export function readLaya(directory: string): LayaFiles {
  const content = requireJson(directory, LAYA_CONFIG);
  checkKeys(LAYA_KEYS, LAYA_CONFIG, content);
  const config = checkModelJson(LAYA_CONFIG, configSchema, content);
  const encoder = requireJson(directory, ENCODER_CONFIG);
  requireParallelOptions(config, encoder);
  const tokenizerDirectory = path.join(directory, TOKENIZER);
  const { tokens, truncatesLeft } = readTokens(directory);
  if (fileSize(directory, WEIGHTS) === null) throw new ModelFileError(`${WEIGHTS}: not found`);
  const weightFiles = [path.join(directory, WEIGHTS)];
  return {
    source: {
      ...encoderSource(directory, checkModelJson(ENCODER_CONFIG, encoderSchema, encoder), {
        configLocation: `${ENCODER_CONFIG}: `,
        weightFiles,
        head: {
          name: 'laya',
          layers: config.head_layers,
          actions: Object.keys(config.act_costs).length + 1,
        },
      }),
      tokenizerDirectory,
      basePrefix: ENCODER,
      maxLength: config.max_len,
      requiredTokens: Object.values(tokens).map((text) => ({ text })),
    },
    files: [
      ...[LAYA_CONFIG, ENCODER_CONFIG].map((name) => path.join(directory, name)),
      ...readTokenizerFiles(tokenizerDirectory),
      ...weightFiles,
    ],
    metadata: {
      name: null,
      version: null,
      maxLength: config.max_len,
      maxHeadLength: config.head_max_len,
      temperatures: config.temperature,
      temperaturesByOptions: config.temperature_by_options,
      tokens,
      hasParallelOptions: config.option_layout === 'parallel',
      truncatesLeft,
    },
  };
}

/** @throws ModelFileError: the encoder or the length does not support options at the same position */
function requireParallelOptions(
  { option_layout, max_len }: z.output<typeof configSchema>,
  encoder: unknown,
): void {
  if (option_layout !== 'parallel') return;
  const { model_type } = checkModelJson(ENCODER_CONFIG, encoderSchema, encoder);
  if (model_type !== 'modernbert') {
    throw new ModelFileError(
      `${LAYA_CONFIG}: option_layout: "parallel" needs a ModernBERT encoder, found ${model_type}`,
    );
  }
  if (max_len <= MAX_PARALLEL_LENGTH) return;
  throw new ModelFileError(
    `${LAYA_CONFIG}: max_len: expected at most ${MAX_PARALLEL_LENGTH} for the option_layout "parallel", received ${max_len}`,
  );
}

function requireJson(directory: string, name: string): unknown {
  const content = readModelJson(directory, name);
  if (content === undefined) throw new ModelFileError(`${name}: not found in ${directory}`);
  return content;
}

/** Special tokens of tokenizer_config.json, or of special_tokens_map.json of older releases. */
function readTokens(directory: string): Pick<LayaMetadata, 'tokens' | 'truncatesLeft'> {
  const name = `${TOKENIZER}/tokenizer_config.json`;
  const settings = requireJson(directory, name);
  const older = readModelJson(directory, `${TOKENIZER}/special_tokens_map.json`);
  const merged = { ...withoutNulls(older), ...withoutNulls(settings) };
  const { cls_token, sep_token, mask_token, truncation_side } = checkModelJson(
    name,
    tokensSchema,
    merged,
  );
  return {
    tokens: { cls: cls_token, sep: sep_token, mask: mask_token },
    truncatesLeft: truncation_side === 'left',
  };
}

function withoutNulls(content: unknown): object {
  if (typeof content !== 'object' || content === null) return {};
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null));
}
