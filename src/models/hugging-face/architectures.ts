import { z } from 'zod';
import { fileSize } from '../files';
import { checkModelJson, readModelJson } from '../json';
import { CONFIG } from './directory';

const schema = z.looseObject({ architectures: z.array(z.string()).nullish() });

/** Classes of transformers that a folder's weights were saved from; null: there is no config.json. @throws ModelFileError */
export function readArchitectures(folder: string): readonly string[] | null {
  if (fileSize(folder, CONFIG) === null) return null;
  const config = checkModelJson(CONFIG, schema, readModelJson(folder, CONFIG));
  return config.architectures ?? [];
}
