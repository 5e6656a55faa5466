import type { SchedulingOptions } from '../../native/engine';
import type { Config } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import type { Task } from '../../tasks/task';
import { TaskModel } from '../../tasks/task-model';
import { say } from '../exit';
import { type FilesCommand, runCommand } from '../over-files/command';
import type { RowTask } from '../over-files/job';
import { PRESETS } from '../presets';
import { HELP, type Options, readOptions } from './options';

const NOTICE = 'A demonstration: no medical device, and no diagnosis.';

/**
 * `libtorch-serve classify`.
 *
 * @param args after `classify`
 * @returns the exit code
 */
export function runClassify(args: readonly string[], environment: Environment): Promise<number> {
  return runCommand(CLASSIFY, args, environment);
}

export const CLASSIFY: FilesCommand = {
  help: HELP,
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
          load: () => loadTask(config, options),
        };
      },
    };
  },
};

/** Loads the model of a service. @throws ModelFileError, EngineError */
async function loadTask(config: Config, options: Options): Promise<RowTask> {
  const { task, placeOf } = PRESETS[options.service];
  const rows = task.rows as NonNullable<Task['rows']>;
  const model = await TaskModel.load(task, placeOf(config), scheduling(config));
  model.warnings.forEach(say);
  const windows = rows.windowsOf(model.about);
  const needed = rows.needed(options);
  return {
    ...rows.format(model.about, options.allLabels),
    model,
    needed,
    // Of a window its samples would be most of the output.
    omitted: windows ? needed : [],
    cutting: windows && { model: windows, options, note: say },
    take: (row) => rows.take(row, options, model.maxLength),
    lengthOf: rows.lengthOf,
  };
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
function scheduling({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
