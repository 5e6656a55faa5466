import type { SchedulingOptions } from '../../native/engine';
import type { Config } from '../../settings/config';
import type { Classification } from '../../tasks/abilities';
import type { Rows, Taken } from '../../tasks/rows';
import { TaskModel } from '../../tasks/task-model';
import { PRESETS } from '../presets';
import type { Options } from './options';
import type { Row } from './rows';

/** What the model says of one row. */
export interface Answer {
  readonly label: string;
  /** Not rounded. */
  readonly score: number;
  /** Of all labels, in their order. */
  readonly scores: Float32Array;
  readonly truncated: boolean;
}

/** One service's way from rows to answers. */
export interface Task<Input = unknown> {
  readonly labels: readonly string[];
  /** How the batch route of the service calls what is answered. */
  readonly names: Rows<Input, unknown>['names'];
  /** Columns that every row must have. */
  readonly needed: readonly string[];
  take(row: Row): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
  /** @throws EngineError */
  run(input: Input): Promise<Answer>;
  /** How long the model has been running on a batch that it was given up on, in ms; 0: there is none. */
  stuckMs(): number;
  /** What has not begun to run is dropped. */
  close(): Promise<void>;
}

/** The model of a service, and its way from rows to answers. */
export async function loadTask(
  config: Config,
  options: Options,
): Promise<{ readonly task: Task; readonly model: TaskModel }> {
  const { task, placeOf } = PRESETS[options.service];
  const { rows } = task;
  const model = await TaskModel.load(task, placeOf(config), scheduling(config));
  const answered: Task = {
    labels: model.about.labels,
    names: rows.names,
    needed: rows.needed(options),
    take: (row) => rows.take(row, options, model.maxLength),
    lengthOf: rows.lengthOf,
    run: async (input) => {
      const { label, score, scores, inference } = (await model.run(input, {})) as Classification;
      return { label, score, scores, truncated: inference.truncated };
    },
    stuckMs: () => model.monitor.stuckMs,
    close: () => {
      model.drop();
      return model.close();
    },
  };
  return { task: answered, model };
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
function scheduling({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
