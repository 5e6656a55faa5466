import path from 'node:path';
import { z } from 'zod';
import { sigmoid, softmax } from '../../lib/numbers';
import { existingFiles, ModelFileError } from '../../models/files';
import { CONFIG } from '../../models/hugging-face/directory';
import { checkModelJson, quoted, readModelJson } from '../../models/json';
import {
  readTransformer,
  TRANSFORMER_SETTINGS,
} from '../../models/sentence-transformers/transformer';
import type { TextInput, TokenizerOverrides } from '../../native/engine';
import type { ClassifierMetadata } from '../capabilities';

/** What sentence-transformers writes beside the files of transformers. */
const SETTINGS = 'config_sentence_transformers.json';
const MODULES = 'modules.json';

/** By the name of its class in torch.nn; each of all outputs of a pair. */
const ACTIVATIONS = {
  Identity: (logits: Float32Array) => logits,
  Sigmoid: sigmoid,
  Softmax: softmax,
  Tanh: (logits: Float32Array) => logits.map(Math.tanh),
} as const;

export type Activation = keyof typeof ACTIVATIONS;

/** What is known of a cross-encoder. */
export interface RerankerMetadata extends ClassifierMetadata {
  readonly activation: Activation;
}

/** As the model reads them; either may be empty. */
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

/** What sentence-transformers has written about a model. */
export interface CrossEncoderFiles {
  /** It says that this is a cross-encoder. */
  readonly isDeclared: boolean;
  /** The class in torch that it names for the scores: `torch.nn.modules.linear.Identity`. */
  readonly activation: string | null;
  /** How both texts are read. */
  readonly reading: TokenizerOverrides;
  /** Absolute paths, beside those of any model. */
  readonly files: readonly string[];
}

/**
 * Of version 6 on all is in files of its own; what they say is so wins over config.json, where versions
 * before had it.
 *
 * @throws ModelFileError
 */
export function readCrossEncoder(directory: string): CrossEncoderFiles {
  const config = checkModelJson(CONFIG, configSchema, readModelJson(directory, CONFIG) ?? {});
  const { sentence_transformers: saved, sbert_ce_default_activation_function: older } = config;
  const own = readOwn(directory);
  return {
    isDeclared: own !== null || Boolean(saved) || typeof older === 'string',
    activation: own?.activation_fn || saved?.activation_fn || older || null,
    reading: own ? readingOf(directory) : {},
    files: existingFiles(directory, [SETTINGS, MODULES, ...(own ? TRANSFORMER_SETTINGS : [])]),
  };
}

/** @throws ModelFileError */
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

/** null: it is no cross-encoder that version 6 or a later one has saved. */
function readOwn(directory: string): Settings | null {
  const listed = readModelJson(directory, MODULES);
  const settings = checkModelJson(
    SETTINGS,
    settingsSchema,
    readModelJson(directory, SETTINGS) ?? {},
  );
  return listed !== undefined && settings.model_type === 'CrossEncoder' ? settings : null;
}

/** @throws ModelFileError: for its scores more is to be run than a sequence classifier */
export function requireSequenceClassifier(directory: string): void {
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
 * Which function turns outputs into scores, as `CrossEncoder` of sentence-transformers 2 to 6 chooses it
 * (cross_encoder/model.py, `get_default_activation_fn`): one that is not of torch needs code of its own there,
 * and is left out.
 *
 * @throws ModelFileError: one of torch that is not known here
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
 * A classifier of one label that nothing marks as a cross-encoder, read as one: many cross-encoders were saved so.
 *
 * @returns null if it has several labels, and so no score by which documents could be ranked
 */
export function readAsReranker({
  name,
  version,
  labels,
}: ClassifierMetadata): RerankerMetadata | null {
  if (labels.length !== 1) return null;
  return { name, version, labels, activation: chooseActivation(null, labels.length) };
}
