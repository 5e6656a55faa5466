import {
  SENTENCE,
  selectModules,
  toSentenceModules,
} from '../../models/sentence-transformers/chain';
import type { SentenceDirectory } from '../../models/sentence-transformers/directory';
import {
  dimensionsOf,
  readSentenceModel,
  readSentenceProgram,
} from '../../models/sentence-transformers/model';
import type { ModelSource, SentenceModule } from '../../native/engine';
import type { EmbeddingMetadata } from '../capabilities';

/** What is made of a directory that says nothing, as sentence-transformers does. */
const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

export interface EmbeddingFiles {
  readonly source: ModelSource;
  /** Absolute paths of all that is read. */
  readonly files: readonly string[];
  readonly metadata: EmbeddingMetadata;
}

/**
 * A directory of sentence-transformers, or that of an encoder alone: with weights, or as a program.
 *
 * @throws ModelFileError
 */
export function readEmbeddingDirectory(directory: string): EmbeddingFiles {
  const modulesOf = (given: SentenceDirectory | null) =>
    given ? toSentenceModules(selectModules(SENTENCE, given.modules)) : [MEAN];
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
    metadata: {
      ...identity,
      ...prompted,
      dimensions: Math.min(whole, sentence?.truncateDim ?? whole),
      isBareEncoder: sentence === null,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling: modules.flatMap((module) => (module.type === 'pooling' ? module.modes : [])),
      similarity: sentence?.similarity ?? 'cosine',
    },
  };
}
