import { UsageError } from '../../files/file-errors';
import type { SchedulingOptions } from '../../native/engine';
import { createDecisionModel } from '../../tasks/decision-models';
import { matchTasks } from '../../tasks/registry';
import { TaskModel } from '../../tasks/task-model';
import { printError } from '../exit';
import type { BatchCommand } from './batch-command';
import { readCommandLine, readFileOptions, withCommonFlags } from './file-options';
import type { RowTask } from './job';
import { DECISION_FLAGS, type DecisionRowOptions, parseDecisionFlags } from './rows/decision-rows';
import { MODEL_FLAG, modelCommandHelp, modelFolderOf } from './task-command';
import { createJob, withoutQueueLimits } from './task-job';

const FLAGS = withCommonFlags({ ...MODEL_FLAG, ...DECISION_FLAGS });

/** `libtorch-serve decide`, with any model that answers typed questions. */
export const DECIDE: BatchCommand = {
  help: modelCommandHelp(
    'decide',
    [
      'Answers typed questions about states as POST /decide does: a column `answers`, a list of objects;',
      'CSV and Parquet contain it as JSON. A state is a text, in JSONL also an object or an array.',
    ],
    FLAGS,
  ),
  read: (args) => {
    const { values, words, settings } = readCommandLine(args, FLAGS);
    const folder = modelFolderOf(values);
    const options = readFileOptions(words, values, { formats: [], readsRecordings: false });
    const rowOptions = parseDecisionFlags(values);
    return createJob(
      {
        name: 'decide',
        service: 'sentiment',
        notice: null,
        inputKind: 'texts',
        options,
        identity: rowOptions.identity,
        modelFiles: () => {
          const [task, place] = findModel(folder);
          return task.listFiles(place);
        },
        load: (config) => load(folder, withoutQueueLimits(config), rowOptions),
      },
      settings,
    );
  },
};

/** @throws UsageError */
function findModel(folder: string): ReturnType<typeof matchTasks>[number] {
  const [match] = matchTasks(folder);
  if (match) return match;
  throw new UsageError('--model: expected a folder with a model, found none');
}

/** @throws ModelFileError, EngineError, or UsageError: the model does not answer questions */
async function load(
  folder: string,
  scheduling: SchedulingOptions,
  rowOptions: DecisionRowOptions,
): Promise<RowTask> {
  const [task, place] = findModel(folder);
  const model = await TaskModel.load(task, place, scheduling);
  try {
    const decisions = createDecisionModel(task, model);
    if (!decisions) {
      throw new UsageError(
        `--model: expected a model that answers questions, the task is ${task.name}`,
      );
    }
    model.warnings.forEach(printError);
    const rows = rowOptions.bind(decisions) as RowTask;
    return { ...rows, requiredColumns: rowOptions.requiredColumns, model };
  } catch (error) {
    await model.close();
    throw error;
  }
}
