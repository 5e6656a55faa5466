import path from 'node:path';
import { z } from 'zod';
import type { SentenceModule, TextModelSource } from '../../native/engine';
import { existingFiles, fileSize, ModelFileError } from '../files';
import { readIdentity } from '../hugging-face/directory';
import { checkModelJson, readModelJson } from '../json';
import { readSafetensorsHeader } from '../safetensors';
import { SENTENCE, selectModules, TOKENS, toSentenceModules } from './chain';
import { readSettings, type SettingsFile } from './directory';
import { type ListedModule, listModules, readModule, withFolder } from './modules';

const STATIC = 'StaticEmbedding';
const MODEL2VEC = 'model2vec';
const WEIGHTS = 'model.safetensors';
const TOKENIZER = 'tokenizer.json';
const CONFIG = 'config.json';

/** Default of model2vec. */
const MAX_LENGTH = 512;

const MEAN: SentenceModule = { type: 'pooling', modes: ['mean'], includePrompt: true };

const model2vecConfig = z.looseObject({
  model_type: z.string().optional(),
  normalize: z.boolean().nullish(),
  max_length: z.int().positive().nullish(),
});

/** Static embeddings of sentence-transformers or model2vec: the mean of token vectors of a table. */
export interface StaticEmbeddingFiles {
  readonly source: TextModelSource;
  /** Absolute paths of all files that are read. */
  readonly files: readonly string[];
  readonly identity: ReturnType<typeof readIdentity>;
  readonly modules: readonly SentenceModule[];
  /** Columns of the table. */
  readonly width: number;
  readonly settings: SettingsFile;
}

/** Whether the first listed module is a table of token vectors. */
export function isStaticEmbedding(modules: readonly ListedModule[]): boolean {
  return modules[0]?.type === STATIC;
}

/**
 * Reads a folder of static embeddings. A folder of model2vec gives the vectors of model2vec, which
 * ignores unknown tokens; others those of sentence-transformers.
 *
 * @returns null if the folder holds another model
 * @throws ModelFileError
 */
export function readStaticEmbedding(directory: string): StaticEmbeddingFiles | null {
  const listed = listModules(directory);
  const config = checkModelJson(CONFIG, z.looseObject({}), readModelJson(directory, CONFIG) ?? {});
  // Files of model2vec 0.10 name no model_type.
  const isModel2vec =
    config.model_type === MODEL2VEC ||
    (config.model_type === undefined && config.embedding_dtype !== undefined);
  if (!isModel2vec && !(listed && isStaticEmbedding(listed))) return null;
  const own = isModel2vec ? checkModelJson(CONFIG, model2vecConfig, config) : null;
  const folder = path.join(directory, listed?.[0]?.path ?? '');
  const [weights] = withFolder(listed?.[0]?.path ?? '', () => requireFiles(folder));
  const modules = own ? modulesOf(own) : [MEAN, ...followers(directory, listed ?? [])];
  return {
    source: {
      type: 'text-encoder',
      modelType: 'static-embedding',
      config: own ? { model2vec: true, max_length: own.max_length ?? MAX_LENGTH } : {},
      head: { name: 'embedding', modules },
      weightFiles: [weights],
      tokenizerDirectory: folder,
    },
    files: [
      ...existingFiles(folder, [WEIGHTS, TOKENIZER]),
      ...existingFiles(directory, [CONFIG, 'modules.json', 'config_sentence_transformers.json']),
    ],
    identity: readIdentity({ model_type: STATIC, ...config }),
    modules,
    width: widthOf(weights),
    settings: readSettings(directory, false),
  };
}

function modulesOf({ normalize }: z.output<typeof model2vecConfig>): readonly SentenceModule[] {
  return normalize ? [MEAN, { type: 'normalize' }] : [MEAN];
}

/** The modules behind the table, which is itself a pooling. */
function followers(
  directory: string,
  [, ...others]: readonly ListedModule[],
): readonly SentenceModule[] {
  const pooling = { name: STATIC, operation: MEAN, reads: TOKENS, writes: SENTENCE };
  const chain = [
    { ...pooling, isOptional: false },
    ...others.flatMap((module) => readModule(directory, module, SENTENCE) ?? []),
  ];
  return toSentenceModules(selectModules(SENTENCE, chain)).slice(1);
}

/** @throws ModelFileError */
function requireFiles(folder: string): readonly [weights: string] {
  for (const name of [WEIGHTS, TOKENIZER]) {
    if (fileSize(folder, name) === null) throw new ModelFileError(`${name}: not found`);
  }
  return [path.join(folder, WEIGHTS)];
}

/** @throws ModelFileError */
function widthOf(weights: string): number {
  const tensors = readSafetensorsHeader(weights)?.tensors ?? {};
  const columns = (tensors['embedding.weight'] ?? tensors.embeddings)?.shape[1];
  if (columns !== undefined && columns > 0) return columns;
  throw new ModelFileError(
    `${WEIGHTS}: expected a table embedding.weight or embeddings, found ` +
      (Object.keys(tensors).slice(0, 5).join(', ') || 'none'),
  );
}
