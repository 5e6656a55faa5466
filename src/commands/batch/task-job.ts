import type { FlagValues } from '../../files/flags';
import type { FileOptions } from '../../files/formats';
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

/** Model and input files of a command line. */
export interface JobSelection {
  /** Name of the command, for the summary and the job identity. */
  readonly name: string;
  /** Service whose settings apply. */
  readonly service: ServiceName;
  readonly notice: string | null;
  readonly inputKind: Task['inputKind'];
  readonly options: FileOptions;
  /** Options of the rows that determine the output bytes. */
  readonly identity: Readonly<Record<string, unknown>>;
  readonly modelFiles: (config: Config) => readonly string[];
  /** @throws ModelFileError, EngineError, UsageError */
  readonly load: (config: Config) => Promise<RowTask>;
}

/**
 * Creates a batch job.
 *
 * @param settings settings of the services, as flags
 */
export function createJob(
  { name, service, notice, inputKind, options, identity, modelFiles, load }: JobSelection,
  settings: readonly string[],
): ReturnType<BatchCommand['read']> {
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
          ...identity,
          instructionSet: config.instructionSet,
          ...(inputKind === 'texts' && { dtype, attentionDtype }),
        },
        modelFiles: () => modelFiles(config),
        load: () => load(config),
      };
    },
  };
}

/** Task, model and input files of a command line. */
export interface TaskSelection extends Pick<JobSelection, 'name' | 'service' | 'notice'> {
  readonly task: Task;
  readonly modelPath: (config: Config) => string;
  readonly inputs: readonly string[];
}

/**
 * Creates the batch job of a task.
 *
 * @param values values of flags, including the task's flags
 * @param settings settings of the services, as flags
 * @throws UsageError
 */
export function createTaskJob(
  { task, modelPath, inputs, ...selection }: TaskSelection,
  values: FlagValues,
  settings: readonly string[],
): ReturnType<BatchCommand['read']> {
  const rows = rowsOf(task);
  const options = readFileOptions(inputs, values, rows);
  const rowOptions = rows.parse(values);
  return createJob(
    {
      ...selection,
      inputKind: task.inputKind,
      options,
      identity: rowOptions.identity,
      modelFiles: (config) => task.listFiles(modelPath(config)),
      load: (config) => load(task, modelPath(config), withoutQueueLimits(config), rowOptions),
    },
    settings,
  );
}

/** @throws ModelFileError, EngineError, or UsageError: the model does not support the flags */
async function load(
  task: Task,
  path: string,
  scheduling: SchedulingOptions,
  rowOptions: RowOptions<unknown, Prediction, ModelMetadata>,
): Promise<RowTask> {
  const model = await TaskModel.load(task, path, scheduling);
  try {
    model.warnings.forEach(printError);
    const bound = rowOptions.bind(model);
    const windowing = bound.split && { split: bound.split, warn: printError };
    return { ...bound, requiredColumns: rowOptions.requiredColumns, windowing, model };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** Removes the queue limits: the dispatcher limits the number of inputs, and rows have no deadline. */
export function withoutQueueLimits({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
