import path from 'node:path';
import { UsageError } from '../../files/file-errors';
import type { Task } from '../../tasks/task';
import type { BatchCommand } from './batch-command';
import { describeFlags, readCommandLine, withCommonFlags } from './file-options';
import { rowsOf } from './rows/task-rows';
import { createTaskJob } from './task-job';

const MODEL = { model: { value: 'FOLDER', help: 'the model' } } as const;

/**
 * A command that asks a model of one task, which `--model` names.
 *
 * @param does what becomes of a row, for the help
 */
export function taskCommand(name: string, task: Task, does: readonly string[]): BatchCommand {
  const flags = withCommonFlags({ ...MODEL, ...rowsOf(task).flags });
  return {
    help: [
      `Usage: libtorch-serve ${name} --model FOLDER FILE... -o OUTPUT [--flag value ...]`,
      '',
      ...does,
      'Rows come as JSONL, CSV, TSV or Parquet; all but Parquet also as .gz or .zst. - is a pipe, and',
      'quoted patterns ("data/*.jsonl") are files. Answers are in the order of the rows.',
      '',
      ...describeFlags(flags),
      '',
      'How the model uses the machine is set as for the services (libtorch-serve --help):',
      '--workers, --dtype, --max-batch-tokens ...',
    ],
    read: (args) => {
      const { values, words, settings } = readCommandLine(args, flags);
      const model = values.get('model');
      if (!model) throw new UsageError('--model: expected the folder of a model');
      const modelPath = () => path.resolve(model);
      const choice = {
        name,
        service: 'sentiment',
        notice: task.disclaimer,
        task,
        modelPath,
      } as const;
      return createTaskJob({ ...choice, inputs: words }, values, settings);
    },
  };
}
