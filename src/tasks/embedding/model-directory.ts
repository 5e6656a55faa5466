import { chainTo, runModules, SENTENCE } from '../../models/sentence-transformers/chain';
import type { SentenceDirectory } from '../../models/sentence-transformers/directory';
import {
  dimensionsOf,
  readSentenceModel,
  readSentenceProgram,
} from '../../models/sentence-transformers/model';
import type { ModelSource, SentenceModule } from '../../native/engine';
import type { EmbeddingMetadata } from '../abilities';

/** What is made of a directory that says nothing, as sentence-transformers does. */
const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

export interface EmbeddingDirectory {
  readonly source: ModelSource;
  /** Absolute paths of all that is read. */
  readonly files: readonly string[];
  readonly about: EmbeddingMetadata;
}

/**
 * A directory of sentence-transformers, or that of an encoder alone: with weights, or as a program.
 *
 * @throws ModelFileError
 */
export function readEmbeddingDirectory(directory: string): EmbeddingDirectory {
  const modulesOf = (given: SentenceDirectory | null) =>
    given ? runModules(chainTo(SENTENCE, given.modules)) : [MEAN];
  const model =
    readSentenceProgram(directory, modulesOf) ??
    readSentenceModel(directory, 'feature-extraction', (given) => ({
      name: 'embedding',
      modules: modulesOf(given),
    }));
  const { source, files, identity, prompted, width, sentence } = model;
  const modules = modulesOf(sentence);
  const whole = dimensionsOf(width, modules);
  return {
    source,
    files,
    about: {
      ...identity,
      ...prompted,
      dimensions: Math.min(whole, sentence?.truncateDim ?? whole),
      isPlain: sentence === null,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling: modules.flatMap((module) => (module.type === 'pooling' ? module.modes : [])),
      similarity: sentence?.similarity ?? 'cosine',
    },
  };
}
