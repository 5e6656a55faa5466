import { readArchitectures } from '../../models/hugging-face/architectures';
import { listModules } from '../../models/sentence-transformers/modules';
import { isStaticEmbedding } from '../../models/sentence-transformers/static-embedding';

/** Whether a folder contains an embedding model. @throws ModelFileError */
export function isEmbedding(folder: string): boolean {
  const modules = listModules(folder);
  if (modules) {
    return isStaticEmbedding(modules) || modules.some(({ type }) => type === 'Pooling');
  }
  // Encoder without a head, such as `BertModel`.
  return readArchitectures(folder)?.some((name) => name.endsWith('Model')) ?? false;
}
