import { readModelJson } from '../json';
import { findAdapter } from '../peft/adapter';
import { readAdaptedConfig } from '../peft/config';

export const CONFIG = 'config.json';

/**
 * Reads config.json of a model folder. For a LoRA adapter, returns the configuration of the adapted
 * model.
 *
 * @returns undefined if the file does not exist
 * @throws ModelFileError
 */
export function readModelConfig(folder: string): unknown {
  const adapter = findAdapter(folder);
  return adapter ? readAdaptedConfig(adapter) : readModelJson(folder, CONFIG);
}
