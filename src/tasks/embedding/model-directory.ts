import { statSync } from 'node:fs';
import { settingsFolder } from '../../models/peft/adapter';
import { readBgeM3 } from '../../models/sentence-transformers/bge-m3';
import {
  SENTENCE,
  selectModules,
  toSentenceModules,
} from '../../models/sentence-transformers/chain';
import {
  promptsOf,
  type SentenceDirectory,
  similarityOf,
} from '../../models/sentence-transformers/directory';
import {
  dimensionsOf,
  readSentenceModel,
  readSentenceProgram,
} from '../../models/sentence-transformers/model';
import {
  readStaticEmbedding,
  type StaticEmbeddingFiles,
} from '../../models/sentence-transformers/static-embedding';
import type { ModelSource, SentenceModule, TextHead } from '../../native/engine';
import type { EmbeddingMetadata } from '../capabilities';
import { IGNORED_TOKENS } from '../multi-embeddings';

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
  const found = readStaticEmbedding(directory);
  const model = found ? describeStatic(found) : readEncoderDirectory(directory);
  const fileBytes = model.files.reduce((sum, file) => sum + statSync(file).size, 0);
  return { ...model, metadata: { ...model.metadata, fileBytes } };
}

function describeStatic(found: StaticEmbeddingFiles): EmbeddingFiles {
  const { source, files, identity, modules, width, settings } = found;
  const whole = dimensionsOf(width, modules);
  const { prompts, defaultPromptName } = promptsOf(settings);
  return {
    source,
    files,
    metadata: {
      ...identity,
      prompts,
      defaultPrompt: defaultPromptName === null ? '' : (prompts[defaultPromptName] ?? ''),
      excludesPrompt: false,
      tasks: [],
      dimensions: Math.min(whole, settings.truncate_dim ?? whole),
      isBareEncoder: false,
      poolsChunks: false, // static embeddings have no context
      isMulti: false,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling: ['mean'],
      similarity: similarityOf(settings),
    },
  };
}

/** bge-m3 pools the first token. */
function headOf(directory: string, modules: readonly SentenceModule[]): TextHead {
  const [pooling, normalization, other] = modules;
  const isDense =
    pooling?.type === 'pooling' && pooling.modes.join() === 'cls' && pooling.includePrompt;
  const fits = isDense && !other && (!normalization || normalization.type === 'normalize');
  const multi = fits ? readBgeM3(settingsFolder(directory), normalization !== undefined) : null;
  return multi ?? { name: 'embedding', modules };
}

/** Tokens without an entry in the sparse embeddings of bge-m3. */
function withIgnoredTokens(source: ModelSource): ModelSource {
  if (source.type !== 'text-encoder' || source.head.name !== 'bge-m3') return source;
  return { ...source, lateInteraction: { skipped: IGNORED_TOKENS, prefixes: [] } };
}

function readEncoderDirectory(directory: string): EmbeddingFiles {
  const modulesOf = (given: SentenceDirectory | null) =>
    given ? toSentenceModules(selectModules(SENTENCE, given.modules)) : [MEAN];
  const model =
    readSentenceProgram(directory, modulesOf) ??
    readSentenceModel(directory, 'feature-extraction', (given) =>
      headOf(directory, modulesOf(given)),
    );
  const { source, files, identity, prompted, width, sentence } = model;
  const modules = modulesOf(sentence);
  const multi =
    source.type === 'text-encoder' && source.head.name === 'bge-m3' ? source.head : null;
  const whole = dimensionsOf(width, modules);
  const pooling = modules.flatMap((module) => (module.type === 'pooling' ? module.modes : []));
  return {
    source: withIgnoredTokens(source),
    files: [...files, ...(multi ? [...multi.sparseFiles, ...multi.colbertFiles] : [])],
    metadata: {
      ...identity,
      ...prompted,
      dimensions: Math.min(whole, sentence?.truncateDim ?? whole),
      isBareEncoder: sentence === null,
      poolsChunks: source.type === 'text-encoder' && pooling.join() === 'mean',
      isMulti: multi !== null,
      normalizes: modules.at(-1)?.type === 'normalize',
      pooling,
      similarity: sentence?.similarity ?? 'cosine',
    },
  };
}
