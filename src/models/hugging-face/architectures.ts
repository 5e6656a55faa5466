import { z } from 'zod';
import { checkModelJson } from '../json';
import { CONFIG, readModelConfig } from './config';

const schema = z.looseObject({ architectures: z.array(z.string()).nullish() });

/** `model_type` of other libraries, whose `architectures` are no classes of transformers. */
const OF_OTHER_LIBRARIES: ReadonlySet<unknown> = new Set(['GLiClass']);

/**
 * Returns `architectures` of config.json (transformers class names); null if the folder has no
 * config.json of transformers.
 *
 * @throws ModelFileError
 */
export function readArchitectures(folder: string): readonly string[] | null {
  const content = readModelConfig(folder);
  if (content === undefined) return null;
  const { architectures, model_type } = checkModelJson(CONFIG, schema, content);
  return OF_OTHER_LIBRARIES.has(model_type) ? null : (architectures ?? []);
}

/** Whether config.json names a masked language model, such as `BertForMaskedLM`. @throws ModelFileError */
export function isMaskedLanguageModel(folder: string): boolean {
  return readArchitectures(folder)?.some((name) => name.endsWith('ForMaskedLM')) ?? false;
}
