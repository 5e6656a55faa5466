import type { FlagValues } from '../../files/flags';
import type { SchedulingOptions } from '../../native/engine';
import type { Config, ServiceName } from '../../settings/config';
import type { ModelMetadata, Prediction } from '../../tasks/abilities';
import type { AskedRows } from '../../tasks/rows';
import type { Task } from '../../tasks/task';
import { TaskModel } from '../../tasks/task-model';
import { say } from '../exit';
import type { FilesCommand } from './file-command';
import type { RowTask } from './job';
import { readFileOptions } from './options';

/** Whom a command line asks, and where. */
export interface Choice {
  /** For the summary, and for a run that goes on. */
  readonly name: string;
  /** Whose settings are read. */
  readonly service: ServiceName;
  readonly notice: string | null;
  readonly task: Task;
  readonly placeOf: (config: Config) => string;
  readonly inputs: readonly string[];
}

/**
 * A job of a task over the rows of files.
 *
 * @param values of flags, the task's own among them
 * @param settings as the services take them
 * @throws UsageError
 */
export function readTaskJob(
  { name, service, notice, task, placeOf, inputs }: Choice,
  values: FlagValues,
  settings: readonly string[],
): ReturnType<FilesCommand['read']> {
  const rows = task.rows as NonNullable<Task['rows']>;
  const options = readFileOptions(inputs, values, rows);
  const asked = rows.read(values);
  const { inputs: _written, resume, overwrite, summary, ...written } = options;
  return {
    settings: [service, ...settings],
    toJob: (config) => {
      const { dtype, products } = config.scheduling;
      return {
        service: name,
        notice,
        options,
        decisive: {
          service: name,
          ...written,
          ...asked.decisive,
          instructions: config.instructions,
          ...(task.inputKind === 'texts' && { dtype, products }),
        },
        modelFiles: () => task.filesOf(placeOf(config)),
        load: () => load(task, placeOf(config), unhurried(config), asked),
      };
    },
  };
}

/** @throws ModelFileError, EngineError, UsageError: the model does not have what is asked for */
async function load(
  task: Task,
  place: string,
  scheduling: SchedulingOptions,
  asked: AskedRows<unknown, Prediction, ModelMetadata>,
): Promise<RowTask> {
  const model = await TaskModel.load(task, place, scheduling);
  try {
    model.warnings.forEach(say);
    const bound = asked.bind(model);
    const cutting = bound.cutting && { ...bound.cutting, note: say };
    return { ...bound, needed: asked.needed, cutting, model };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
export function unhurried({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
