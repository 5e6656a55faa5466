import path from 'node:path';
import { z } from 'zod';
import { sigmoid, softmax } from '../../lib/numbers';
import type { PairTemplate } from '../../models/chat/pair-template';
import { existingFiles, ModelFileError } from '../../models/files';
import { CONFIG, readModelConfig } from '../../models/hugging-face/config';
import { checkModelJson, quoted, readModelJson } from '../../models/json';
import { settingsFolder } from '../../models/peft/adapter';
import {
  readTransformer,
  TRANSFORMER_SETTINGS,
} from '../../models/sentence-transformers/transformer';
import type { TextInput, TokenizerOverrides } from '../../native/engine';
import type { ClassifierMetadata } from '../capabilities';

/** Settings file that only sentence-transformers writes. */
const SETTINGS = 'config_sentence_transformers.json';
const MODULES = 'modules.json';

/** Activations by torch.nn class name, applied to all outputs of a text pair. */
const ACTIVATIONS = {
  Identity: (logits: Float32Array) => logits,
  Sigmoid: sigmoid,
  Softmax: softmax,
  Tanh: (logits: Float32Array) => logits.map(Math.tanh),
} as const;

export type Activation = keyof typeof ACTIVATIONS;

/** Metadata of a cross-encoder. */
export interface RerankerMetadata extends ClassifierMetadata {
  readonly activation: Activation;
  /** Texts of a pair, for decoders; undefined: query and document are a text pair. */
  readonly template?: PairTemplate;
  /** The same model as a classifier of texts; undefined: a decoder, which has no labels. */
  readonly classifier?: ClassifierMetadata;
}

/** Creates the text pair of a query and a document. Either text may be empty. */
export function toPair(query: string, document: string): TextInput {
  return { text: query, pair: document, isPair: true };
}

export function activate(logits: Float32Array, activation: Activation): Float32Array {
  return ACTIVATIONS[activation](logits);
}

const configSchema = z.looseObject({
  sentence_transformers: z.looseObject({ activation_fn: z.string().nullish() }).nullish(),
  sbert_ce_default_activation_function: z.string().nullish(),
});

const settingsSchema = z.looseObject({
  model_type: z.string().nullish(),
  activation_fn: z.string().nullish(),
  default_prompt_name: z.string().nullish(),
});

const modulesSchema = z.array(z.looseObject({ type: z.string() }));

/** Settings of sentence-transformers for a cross-encoder. */
export interface CrossEncoderFiles {
  /** Whether the files identify the model as a cross-encoder. */
  readonly isDeclared: boolean;
  /**
   * PyTorch class of the score activation, such as `torch.nn.modules.linear.Identity`; null: not
   * specified.
   */
  readonly activation: string | null;
  /** Tokenizer settings of sentence-transformers. */
  readonly reading: TokenizerOverrides;
  /** Absolute paths of the settings files. */
  readonly files: readonly string[];
}

/**
 * Reads the sentence-transformers settings of a model. Since version 6, separate files override
 * config.json, which held the settings before.
 *
 * @throws ModelFileError
 */
export function readCrossEncoder(folder: string): CrossEncoderFiles {
  const directory = settingsFolder(folder);
  const own = readOwn(directory);
  const { isDeclared, activation } = readActivation(folder);
  return {
    isDeclared,
    activation,
    reading: own ? readingOf(directory) : {},
    files: existingFiles(directory, [SETTINGS, MODULES, ...(own ? TRANSFORMER_SETTINGS : [])]),
  };
}

/**
 * Reads the marks of a cross-encoder and its activation.
 *
 * @throws ModelFileError
 */
export function readActivation(
  directory: string,
): Pick<CrossEncoderFiles, 'isDeclared' | 'activation'> {
  const config = checkModelJson(CONFIG, configSchema, readModelConfig(directory) ?? {});
  const { sentence_transformers: saved, sbert_ce_default_activation_function: older } = config;
  const own = readOwn(settingsFolder(directory));
  return {
    isDeclared: own !== null || Boolean(saved) || typeof older === 'string',
    activation: own?.activation_fn || saved?.activation_fn || older || null,
  };
}

/**
 * Reads the tokenizer settings.
 *
 * @throws ModelFileError
 */
function readingOf(directory: string): TokenizerOverrides {
  const task = 'sequence-classification';
  const { maxLength, lowercases, lengths, file } = readTransformer(directory, task, task);
  const given = Object.entries(lengths).find(([, value]) => value != null);
  if (given) {
    const what = 'is supported for models of late interaction only. Remove it';
    throw new ModelFileError(`${file}: ${given[0]}: ${what}`);
  }
  return { ...(maxLength !== null && { maxLength }), ...(lowercases && { lowercases }) };
}

type Settings = z.output<typeof settingsSchema>;

/**
 * Reads the settings file of version 6 and later; null if the file is missing or describes another
 * model type.
 */
function readOwn(directory: string): Settings | null {
  const listed = readModelJson(directory, MODULES);
  const settings = checkModelJson(
    SETTINGS,
    settingsSchema,
    readModelJson(directory, SETTINGS) ?? {},
  );
  return listed !== undefined && settings.model_type === 'CrossEncoder' ? settings : null;
}

/**
 * Rejects models whose scores need more modules than a sequence classifier.
 *
 * @throws ModelFileError
 */
export function requireSequenceClassifier(folder: string): void {
  const directory = settingsFolder(folder);
  const settings = readOwn(directory);
  if (settings === null) return;
  const modules = checkModelJson(MODULES, modulesSchema, readModelJson(directory, MODULES));
  const [, other] = modules;
  if (other) {
    throw new ModelFileError(
      `${MODULES}: expected a transformer alone, as sequence classifiers are, found ${quoted(other.type)} behind it`,
    );
  }
  const { default_prompt_name: prompt } = settings;
  if (prompt) {
    throw new ModelFileError(
      `${SETTINGS}: default_prompt_name: ${quoted(prompt)}: prompts of cross-encoders are not supported`,
    );
  }
}

/**
 * Chooses the activation of the scores, as `CrossEncoder` of sentence-transformers 2 to 6 does
 * (cross_encoder/model.py, `get_default_activation_fn`). Activations outside of torch need custom
 * code there and are ignored.
 *
 * @throws ModelFileError if the torch activation is not supported
 */
export function chooseActivation(named: string | null, numLabels: number): Activation {
  if (named?.startsWith('torch.')) {
    const name = path.extname(named).slice(1);
    if (Object.hasOwn(ACTIVATIONS, name)) return name as Activation;
    const known = Object.keys(ACTIVATIONS).join(', ');
    throw new ModelFileError(`activation_fn: expected one of ${known}, found ${quoted(named)}`);
  }
  return numLabels === 1 ? 'Sigmoid' : 'Identity';
}

/**
 * Treats a classifier with one label as a cross-encoder: many cross-encoders have no settings file
 * of sentence-transformers.
 *
 * @returns null for several labels, which cannot rank documents
 */
export function readAsReranker({
  name,
  version,
  labels,
}: ClassifierMetadata): RerankerMetadata | null {
  if (labels.length !== 1) return null;
  return { name, version, labels, activation: chooseActivation(null, labels.length) };
}
