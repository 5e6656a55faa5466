import { type TextModelSource, withConfigLocation } from '../../native/engine';
import { ModelFileError } from '../files';
import { type ModelConfig, weightsSource } from './directory';

type Options = Parameters<typeof weightsSource>[2] &
  Required<Pick<TextModelSource, 'configLocation'>>;

/**
 * Describes an encoder whose configuration is not in config.json.
 *
 * @param directory folder of the tokenizer
 * @throws ModelFileError that names the file of the configuration
 */
export function encoderSource(
  directory: string,
  config: ModelConfig,
  { configLocation, ...options }: Options,
): TextModelSource & Pick<Options, 'configLocation'> {
  try {
    return { ...weightsSource(directory, config, options), configLocation };
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    throw new ModelFileError(withConfigLocation(error.message, configLocation));
  }
}
