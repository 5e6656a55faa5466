import type { Environment } from '../../settings/environment';
import { EXIT_CODES, type FilesCommand, runCommand } from '../over-files/command';
import { PRESETS } from '../presets';
import { classifyHelp, readOptions } from './options';
import { loadTask } from './task';

const NOTICE = 'A demonstration: no medical device, and no diagnosis.';

export const CLASSIFY: FilesCommand = {
  help: () => classifyHelp(EXIT_CODES),
  read: (args) => {
    const { options, settings } = readOptions(args);
    const { service } = options;
    const { task, placeOf } = PRESETS[service];
    const { inputs: _written, resume, overwrite, summary, ...decisive } = options;
    return {
      settings,
      toJob: (config) => {
        const { instructions, scheduling } = config;
        const { dtype, products } = scheduling;
        const formats = task.takes === 'texts' && { dtype, products };
        return {
          service,
          notice: service === 'eeg' ? NOTICE : null,
          options,
          decisive: { ...decisive, instructions, ...formats },
          modelFiles: () => task.filesOf(placeOf(config)),
          load: (warn) => loadTask(config, options, warn),
        };
      },
    };
  },
};

/**
 * `libtorch-serve classify`.
 *
 * @param args after `classify`
 * @returns the exit code
 */
export function runClassify(args: readonly string[], environment: Environment): Promise<number> {
  return runCommand(CLASSIFY, args, environment);
}
