import type { FlagValues } from '../../files/flags';
import type { SchedulingOptions } from '../../native/engine';
import type { Config, ServiceName } from '../../settings/config';
import type { ModelMetadata, Prediction } from '../../tasks/capabilities';
import type { Task } from '../../tasks/task';
import { TaskModel } from '../../tasks/task-model';
import { printError } from '../exit';
import type { BatchCommand } from './batch-command';
import { readFileOptions } from './file-options';
import type { RowTask } from './job';
import type { RowOptions } from './rows/rows';
import { rowsOf } from './rows/task-rows';

/** Whom a command line asks, and where. */
export interface TaskSelection {
  /** For the summary, and for a run that goes on. */
  readonly name: string;
  /** Whose settings are read. */
  readonly service: ServiceName;
  readonly notice: string | null;
  readonly task: Task;
  readonly modelPath: (config: Config) => string;
  readonly inputs: readonly string[];
}

/**
 * A job of a task over the rows of files.
 *
 * @param values of flags, the task's own among them
 * @param settings as the services take them
 * @throws UsageError
 */
export function createTaskJob(
  { name, service, notice, task, modelPath, inputs }: TaskSelection,
  values: FlagValues,
  settings: readonly string[],
): ReturnType<BatchCommand['read']> {
  const rows = rowsOf(task);
  const options = readFileOptions(inputs, values, rows);
  const rowOptions = rows.parse(values);
  const { inputs: _written, resume, overwrite, summary, ...written } = options;
  return {
    settings: [service, ...settings],
    toJob: (config) => {
      const { dtype, attentionDtype } = config.scheduling;
      return {
        service: name,
        notice,
        options,
        identity: {
          service: name,
          ...written,
          ...rowOptions.identity,
          instructionSet: config.instructionSet,
          ...(task.inputKind === 'texts' && { dtype, attentionDtype }),
        },
        modelFiles: () => task.listFiles(modelPath(config)),
        load: () => load(task, modelPath(config), withoutQueueLimits(config), rowOptions),
      };
    },
  };
}

/** @throws ModelFileError, EngineError, UsageError: the model does not have what is asked for */
async function load(
  task: Task,
  place: string,
  scheduling: SchedulingOptions,
  rowOptions: RowOptions<unknown, Prediction, ModelMetadata>,
): Promise<RowTask> {
  const model = await TaskModel.load(task, place, scheduling);
  try {
    model.warnings.forEach(printError);
    const bound = rowOptions.bind(model);
    const windowing = bound.windowing && { ...bound.windowing, warn: printError };
    return { ...bound, requiredColumns: rowOptions.requiredColumns, windowing, model };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
export function withoutQueueLimits({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
