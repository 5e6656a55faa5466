import { isMaskedLanguageModel, readArchitectures } from '../../models/hugging-face/architectures';
import { listModules } from '../../models/sentence-transformers/modules';
import { isStaticEmbedding } from '../../models/sentence-transformers/static-embedding';

/**
 * Whether a folder contains a model that can be loaded for embeddings: an embedding model, or a masked language model
 * without modules.
 *
 * @throws ModelFileError
 */
export function canEmbed(folder: string): boolean {
  return isEmbedding(folder) || (listModules(folder) === null && isMaskedLanguageModel(folder));
}

/** Whether a folder contains an embedding model. @throws ModelFileError */
export function isEmbedding(folder: string): boolean {
  const modules = listModules(folder);
  if (modules) {
    return isStaticEmbedding(modules) || modules.some(({ type }) => type === 'Pooling');
  }
  // Encoder without a head, such as `BertModel`.
  return readArchitectures(folder)?.some((name) => name.endsWith('Model')) ?? false;
}
