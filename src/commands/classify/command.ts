import type { Member } from '../../files/plan';
import type { SchedulingOptions } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { Config } from '../../settings/config';
import type { Environment } from '../../settings/environment';
import type { Classification } from '../../tasks/abilities';
import type { Rows } from '../../tasks/rows';
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
async function loadTask(
  config: Config,
  options: Options,
): Promise<RowTask<unknown, Classification>> {
  const { task, placeOf } = PRESETS[options.service];
  const { rows } = task;
  const loaded = await TaskModel.load(task, placeOf(config), scheduling(config));
  loaded.warnings.forEach(say);
  const model = loaded as TaskModel<unknown, Classification>;
  const windows = rows.windowsOf(model.about);
  const needed = rows.needed(options);
  return {
    ...classFormat(rows.names, model.about.labels, options.allLabels),
    model,
    needed,
    // Of a window its samples would be most of the output.
    omitted: windows ? needed : [],
    cutting: windows && { model: windows, options, note: say },
    take: (row) => rows.take(row, options, model.maxLength),
    lengthOf: rows.lengthOf,
  };
}

/** A class with its probability, as the batch route of the service has it. */
function classFormat(
  { label, score, truncated }: Rows<unknown, unknown>['names'],
  labels: readonly string[],
  allLabels: boolean,
) {
  const isCut = ({ inference }: Classification) => truncated !== null && inference.truncated;
  const members: Member<Classification>[] = [
    { name: label, type: 'string', of: (answer) => answer.label },
    { name: score, type: 'number', of: (answer) => roundToFourDecimals(answer.score) },
    {
      name: 'probabilities',
      type: 'number',
      parts: allLabels ? labels : [],
      of: ({ scores }) => Array.from(scores, roundToFourDecimals),
    },
  ];
  if (truncated !== null) members.push({ name: truncated, type: 'boolean', of: isCut });
  return {
    members,
    count: (answer: Classification) => ({ label: answer.label, truncated: isCut(answer) }),
  };
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
function scheduling({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
