import { z } from 'zod';
import { checkModelJson } from '../json';
import { CONFIG, readModelConfig } from './config';

const schema = z.looseObject({ architectures: z.array(z.string()).nullish() });

/**
 * Returns `architectures` of config.json (transformers class names); null if the folder has no
 * config.json.
 *
 * @throws ModelFileError
 */
export function readArchitectures(folder: string): readonly string[] | null {
  const content = readModelConfig(folder);
  if (content === undefined) return null;
  return checkModelJson(CONFIG, schema, content).architectures ?? [];
}

/** Whether config.json names a masked language model, such as `BertForMaskedLM`. @throws ModelFileError */
export function isMaskedLanguageModel(folder: string): boolean {
  return readArchitectures(folder)?.some((name) => name.endsWith('ForMaskedLM')) ?? false;
}
