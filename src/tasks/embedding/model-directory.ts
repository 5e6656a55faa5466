import { readSentenceModel } from '../../models/sentence-transformers/model';
import type { ModelSource, SentenceModule } from '../../native/engine';
import type { EmbeddingAbout } from '../abilities';

/** What is made of a directory that says nothing, as sentence-transformers does. */
const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

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
  const model = readSentenceModel(directory, (sentence) => ({
    name: 'embedding',
    modules: sentence?.modules ?? [MEAN],
  }));
  const { source, files, identity, prompted, width, sentence } = model;
  const modules = sentence?.modules ?? [MEAN];
  const whole = dimensionsOf(width, modules);
  return {
    ...{ source, files },
    about: {
      ...{ ...identity, ...prompted },
      dimensions: Math.min(whole, sentence?.truncateDim ?? whole),
      isPlain: sentence === null,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling: modules.flatMap((module) => (module.type === 'pooling' ? module.modes : [])),
      similarity: sentence?.similarity ?? 'cosine',
    },
  };
}

/** Numbers of a vector. */
function dimensionsOf(width: number, modules: readonly SentenceModule[]): number {
  return modules.reduce((size, module) => {
    if (module.type === 'dense') return module.outFeatures;
    return module.type === 'pooling' ? size * module.modes.length : size;
  }, width);
}
