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

/** Default pooling of a folder without modules.json, as in sentence-transformers. */
const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

export interface EmbeddingFiles {
  readonly source: ModelSource;
  /** Absolute paths of all model files. */
  readonly files: readonly string[];
  readonly metadata: EmbeddingMetadata;
}

/**
 * Reads a sentence-transformers folder or the folder of an encoder, with weights or a program.
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
