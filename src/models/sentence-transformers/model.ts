import { z } from 'zod';
import type { TextHead, TextModelSource } from '../../native/engine';
import { ModelFileError } from '../files';
import {
  identityOf,
  type ModelConfig,
  modelConfig,
  readDirectory,
  weightsSource,
} from '../hugging-face/directory';
import { findModel } from '../hugging-face/weight-files';
import { readSentenceDirectory, type SentenceDirectory } from './directory';

/** What is known of texts before they are tokenized. */
export interface Prompted {
  /** What is put before texts, by name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** What is put before a text where nothing else is asked for; empty: nothing. */
  readonly defaultPrompt: string;
  /** The prompt's own tokens have no part in a vector. */
  readonly leavesOutPrompt: boolean;
  /** Texts are put into lower case before all that the tokenizer does. */
  readonly lowercases: boolean;
}

export interface SentenceModel {
  readonly source: TextModelSource;
  /** Absolute paths of all that is read. */
  readonly files: readonly string[];
  readonly identity: { readonly name: string | null; readonly version: string | null };
  readonly prompted: Prompted;
  /** Numbers of a state of the encoder; 0: config.json does not say. */
  readonly width: number;
  /** null: the directory is that of an encoder alone. */
  readonly sentence: SentenceDirectory | null;
}

/** Width of an encoder's states: DistilBERT's config.json calls it otherwise. */
const widthSchema = modelConfig.extend({
  hidden_size: z.int().positive().nullish(),
  dim: z.int().positive().nullish(),
});

/**
 * A directory of sentence-transformers, or that of an encoder alone.
 *
 * @param headOf what follows the encoder; null: the directory does not say
 * @throws ModelFileError
 */
export function readSentenceModel(
  directory: string,
  headOf: (sentence: SentenceDirectory | null) => TextHead,
): SentenceModel {
  const sentence = readSentenceDirectory(directory);
  const encoder = sentence?.encoder ?? directory;
  const { config, files } = readDirectory(encoder, widthSchema);
  const found = findModel(encoder);
  if ('program' in found) {
    throw new ModelFileError('model.safetensors: not found: vectors are made by weights');
  }
  const { weightFiles } = found;
  const head = headOf(sentence);
  const modules = head.name === 'embedding' ? head.modules : [];
  const { prompts = {}, defaultPromptName = null } = sentence ?? {};
  return {
    source: {
      ...weightsSource(encoder, config as ModelConfig, { weightFiles, head }),
      ...(sentence?.maxLength && { maxLength: sentence.maxLength }),
    },
    files: [
      ...[...files, ...weightFiles, ...(sentence?.files ?? [])],
      ...modules.flatMap((module) => ('weightFiles' in module ? module.weightFiles : [])),
    ],
    identity: identityOf(config as ModelConfig),
    prompted: {
      prompts,
      defaultPrompt: defaultPromptName === null ? '' : (prompts[defaultPromptName] ?? ''),
      leavesOutPrompt: modules.some((module) => module.type === 'pooling' && !module.includePrompt),
      lowercases: sentence?.lowercases ?? false,
    },
    width: config.hidden_size ?? config.dim ?? 0,
    sentence,
  };
}
