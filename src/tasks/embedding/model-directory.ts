import { z } from 'zod';
import { ModelFileError } from '../../models/files';
import {
  identityOf,
  type ModelConfig,
  modelConfig,
  readDirectory,
  weightsSource,
} from '../../models/hugging-face/directory';
import { findModel } from '../../models/hugging-face/weight-files';
import {
  readSentenceDirectory,
  type SentenceDirectory,
} from '../../models/sentence-transformers/directory';
import type { ModelSource, SentenceModule } from '../../native/engine';
import type { EmbeddingAbout } from '../abilities';

/** What is made of a directory that says nothing, as sentence-transformers does. */
const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

const plain: Omit<SentenceDirectory, 'encoder'> = {
  modules: [MEAN],
  ...{ maxLength: null, lowercases: false, prompts: {}, defaultPromptName: null },
  ...{ similarity: 'cosine', truncateDim: null, files: [] },
};

/** Width of an encoder's states: DistilBERT's config.json calls it otherwise. */
const widthSchema = modelConfig.extend({
  hidden_size: z.int().positive().nullish(),
  dim: z.int().positive().nullish(),
});

export interface EmbeddingDirectory {
  readonly source: ModelSource;
  /** Absolute paths of all that is read. */
  readonly files: readonly string[];
  readonly about: EmbeddingAbout;
}

/**
 * A directory of sentence-transformers, or that of an encoder alone.
 *
 * @throws ModelFileError
 */
export function readEmbeddingDirectory(directory: string): EmbeddingDirectory {
  const sentence = readSentenceDirectory(directory);
  const { modules, maxLength, prompts, files: settings, ...said } = sentence ?? plain;
  const encoder = sentence?.encoder ?? directory;
  const { config, files } = readDirectory(encoder, widthSchema);
  const found = findModel(encoder);
  if ('program' in found) {
    throw new ModelFileError('model.safetensors: not found: an embedding is made of weights');
  }
  const { weightFiles } = found;
  const ofModules = modules.flatMap((module) =>
    'weightFiles' in module ? module.weightFiles : [],
  );
  return {
    source: {
      ...weightsSource(encoder, config, { weightFiles, head: { name: 'embedding', modules } }),
      ...(maxLength !== null && { maxLength }),
    },
    files: [...files, ...weightFiles, ...settings, ...ofModules],
    about: {
      ...identityOf(config),
      dimensions: dimensionsOf(config, modules, said.truncateDim),
      isPlain: sentence === null,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling: modules.flatMap((module) => (module.type === 'pooling' ? module.modes : [])),
      ...{ prompts, lowercases: said.lowercases, similarity: said.similarity },
      defaultPrompt: said.defaultPromptName === null ? '' : (prompts[said.defaultPromptName] ?? ''),
    },
  };
}

/** Numbers of a vector. */
function dimensionsOf(
  config: ModelConfig,
  modules: readonly SentenceModule[],
  truncateDim: number | null,
): number {
  const { hidden_size, dim } = config as z.output<typeof widthSchema>;
  const width = hidden_size ?? dim ?? 0;
  const whole = modules.reduce((size, module) => {
    if (module.type === 'dense') return module.outFeatures;
    return module.type === 'pooling' ? size * module.modes.length : size;
  }, width);
  return Math.min(whole, truncateDim ?? whole);
}
