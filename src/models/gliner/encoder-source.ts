import type { TextHead, TextModelSource } from '../../native/engine';
import { ModelFileError } from '../files';
import { CONFIG, type ModelConfig, weightsSource } from '../hugging-face/directory';

/** Head of encoders that are described alone. */
const NO_HEAD: TextHead = { name: 'embedding', modules: [] };

/**
 * Describes an encoder whose configuration is an object of gliner_config.json.
 *
 * @param directory folder of the tokenizer
 * @throws ModelFileError that names the key
 */
export function encoderSource(
  directory: string,
  {
    key,
    config,
    weightFiles,
    head = NO_HEAD,
  }: {
    readonly key: string;
    readonly config: ModelConfig;
    readonly weightFiles: readonly string[];
    readonly head?: TextHead;
  },
): TextModelSource {
  try {
    return weightsSource(directory, config, { weightFiles, head });
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    const prefix = `${CONFIG}: `;
    if (!error.message.startsWith(prefix)) throw error;
    const problem = error.message.slice(prefix.length);
    throw new ModelFileError(`gliner_config.json: ${key}.${problem}`);
  }
}
