import { readArchitectures } from '../../models/hugging-face/architectures';
import { listModules } from '../../models/sentence-transformers/modules';

/** Whether vectors are what a folder's files are made for. @throws ModelFileError */
export function isEmbedding(folder: string): boolean {
  const modules = listModules(folder);
  if (modules) return modules.some(({ type }) => type === 'Pooling');
  // An encoder without a head: `BertModel`.
  return readArchitectures(folder)?.some((name) => name.endsWith('Model')) ?? false;
}
