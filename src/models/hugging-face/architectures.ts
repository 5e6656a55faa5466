import { z } from 'zod';
import { fileSize } from '../files';
import { checkModelJson, readModelJson } from '../json';
import { CONFIG } from './directory';

const schema = z.looseObject({ architectures: z.array(z.string()).nullish() });

/**
 * Returns `architectures` of config.json (transformers class names); null if the folder has no
 * config.json.
 *
 * @throws ModelFileError
 */
export function readArchitectures(folder: string): readonly string[] | null {
  if (fileSize(folder, CONFIG) === null) return null;
  const config = checkModelJson(CONFIG, schema, readModelJson(folder, CONFIG));
  return config.architectures ?? [];
}

/** Whether config.json names a masked language model, such as `BertForMaskedLM`. @throws ModelFileError */
export function isMaskedLanguageModel(folder: string): boolean {
  return readArchitectures(folder)?.some((name) => name.endsWith('ForMaskedLM')) ?? false;
}
