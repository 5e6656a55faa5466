import path from 'node:path';
import { type ModelsDirectory, newDirectory } from './models-directory';
import { ROOT } from './service';

/** A check by the shipped model, of the directory that `guardDirectory` makes. */
export const TONE = {
  type: 'text-classification',
  name: 'tone',
  model: 'sentiment',
  action: 'block',
  labels: { NEGATIVE: 0.9 },
} as const;

/** A directory of the shipped sentiment model, and a guard. @param file content of its guard.json */
export function guardDirectory(file: object): ModelsDirectory {
  const directory = newDirectory();
  const names = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
  for (const name of names)
    directory.file(`sentiment/${name}`, path.join(ROOT, 'models', 'sentiment', name));
  directory.write('guard.json', JSON.stringify(file));
  return directory;
}
