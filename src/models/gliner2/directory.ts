import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Gliner2Head, TextModelSource } from '../../native/engine';
import { fileSize, ModelFileError } from '../files';
import { CONFIG, type ModelConfig, readTokenizerFiles } from '../hugging-face/directory';
import { encoderSource } from '../hugging-face/encoder-source';
import { withUnlimitedPositions } from '../hugging-face/unlimited-positions';
import { checkModelJson, readModelJson, requireModelJson } from '../json';
import { checkKeys } from '../keys/table';
import { GLINER2_KEYS } from './keys';

const MODEL_TYPE = 'extractor';
const ENCODER_CONFIG = 'encoder_config/config.json';
const WEIGHTS = 'model.safetensors';

/** Prefix of the keys of the encoder in the weight file. */
const ENCODER = 'encoder';

/** Maximum number of tokens of the labels and the text. gliner2 has no limit of its own. */
const MAX_LENGTH = 2048;
/** Maximum number of words of a window: only the number of tokens limits it. */
const MAX_WORDS = 1_000_000;
/** Minimum number of words that consecutive windows of a long text share. */
const OVERLAP = 32;

/** Tokens of the prompts, see `SchemaPrompt` and tasks/gliner2/class-sequence.ts. */
const TOKENS = ['[P]', '[E]', '[L]', '[SEP_TEXT]', '[DESCRIPTION]'];

/** A value, or the default for null and for an absent key. */
function or<Value>(schema: z.ZodType<Value>, value: Value) {
  return schema.nullish().transform((given) => given ?? value);
}

const width = z.int().min(1).max(512).nullish();

/** Source: gliner2, configuration.py (`ExtractorConfig`, `SpanHeadSettings`, `BoundaryHeadSettings`). */
const configSchema = z.looseObject({
  name: z.string().nullish(),
  version: z.string().nullish(),
  architecture: or(z.enum(['span', 'boundary']), 'span'),
  counting_layer: or(z.enum(['count_lstm', 'count_lstm_v2', 'count_lstm_moe']), 'count_lstm'),
  max_width: width,
  span_head: z.looseObject({ max_width: width }).nullish(),
  boundary_head: z
    .looseObject({
      dropout: or(z.number().min(0).lt(1), 0.1),
      classification_temperature: or(z.number().min(1e-6).max(1e6), 1),
    })
    .nullish(),
});

type Config = z.output<typeof configSchema>;

const encoderSchema = z.looseObject({ model_type: z.string() });

export type Gliner2Architecture = Config['architecture'];

export interface Gliner2Metadata {
  readonly name: string | null;
  readonly version: string | null;
  /** Maximum number of words of an entity; null: the model finds no entities. */
  readonly maxWidth: number | null;
  /** gliner2 resolves overlaps of entities with the same label only. */
  readonly isFlatPerLabel: true;
}

interface Gliner2Files {
  readonly source: TextModelSource;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
  readonly metadata: Gliner2Metadata;
}

/** Architecture of the GLiNER2 model in a folder; null: it contains none. */
export function gliner2ArchitectureOf(directory: string): Gliner2Architecture | null {
  try {
    const content = readModelJson(directory, CONFIG) as Partial<Config & ModelConfig> | undefined;
    if (content?.model_type !== MODEL_TYPE) return null;
    return content.architecture === 'boundary' ? 'boundary' : 'span';
  } catch (error) {
    if (error instanceof ModelFileError) return null; // other tasks report the error
    throw error;
  }
}

/**
 * Returns the model folder of a path to a folder or to a file in a folder; null if it contains no GLiNER2 model of this
 * architecture.
 */
export function findGliner2Folder(
  location: string,
  architecture: Gliner2Architecture,
): string | null {
  const isFolder = statSync(location, { throwIfNoEntry: false })?.isDirectory();
  const folder = path.resolve(isFolder ? location : path.dirname(location));
  return gliner2ArchitectureOf(folder) === architecture ? folder : null;
}

/**
 * Reads a folder that `save_pretrained` of gliner2 wrote, except the weights and the tokenizer.
 *
 * @throws ModelFileError
 */
export function readGliner2(directory: string): Gliner2Files {
  const content = readModelJson(directory, CONFIG);
  if (content === undefined) throw new ModelFileError(`${CONFIG}: not found in ${directory}`);
  checkKeys(GLINER2_KEYS, CONFIG, content);
  const config = checkModelJson(CONFIG, configSchema, content);
  if (fileSize(directory, WEIGHTS) === null) throw new ModelFileError(`${WEIGHTS}: not found`);
  const encoder = requireModelJson(directory, ENCODER_CONFIG, encoderSchema);
  const weightFiles = [path.join(directory, WEIGHTS)];
  const head = toHead(config);
  const findsEntities = config.architecture === 'span';
  return {
    source: {
      ...encoderSource(directory, withUnlimitedPositions(encoder, MAX_LENGTH), {
        configLocation: `${ENCODER_CONFIG}: `,
        weightFiles,
        head,
      }),
      basePrefix: ENCODER,
      maxLength: MAX_LENGTH,
      requiredTokens: TOKENS.map((text) => ({ text })),
      ...(findsEntities && {
        schemaPrompt: { maxWords: MAX_WORDS, overlap: Math.max(OVERLAP, head.maxWidth) },
      }),
    },
    files: [
      ...[CONFIG, ENCODER_CONFIG].map((name) => path.join(directory, name)),
      ...readTokenizerFiles(directory),
      ...weightFiles,
    ],
    metadata: {
      name: config.name ?? null,
      version: config.version ?? null,
      maxWidth: findsEntities ? head.maxWidth : null,
      isFlatPerLabel: true,
    },
  };
}

function toHead({
  architecture,
  counting_layer,
  max_width,
  span_head,
  boundary_head,
}: Config): Gliner2Head {
  const head = { name: 'gliner2', maxWidth: span_head?.max_width ?? max_width ?? 8 } as const;
  if (architecture === 'span') {
    return { ...head, counting: counting_layer, classifierOutput: '2', temperature: 1 };
  }
  const { dropout = 0.1, classification_temperature: temperature = 1 } = boundary_head ?? {};
  // Dropout is a module of its own between the layers.
  return { ...head, classifierOutput: dropout > 0 ? '3' : '2', temperature };
}
