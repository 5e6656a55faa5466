import path from 'node:path';
import { UsageError } from '../../files/file-errors';
import type { Flags, FlagValues } from '../../files/flags';
import type { Task } from '../../tasks/task';
import type { BatchCommand } from './batch-command';
import { describeFlags, readCommandLine, withCommonFlags } from './file-options';
import { rowsOf } from './rows/task-rows';
import { createTaskJob } from './task-job';

export const MODEL_FLAG = { model: { value: 'FOLDER', help: 'model folder' } } as const;

/**
 * Creates a command that runs the model in `--model` on the rows of files.
 *
 * @param description lines of the help text
 * @param taskOf task of a model folder whose rows are those of `task`
 */
export function taskCommand(
  name: string,
  task: Task,
  description: readonly string[],
  taskOf: (folder: string) => Task = () => task,
): BatchCommand {
  const flags = withCommonFlags({ ...MODEL_FLAG, ...rowsOf(task).flags });
  return {
    help: modelCommandHelp(name, description, flags),
    read: (args) => {
      const { values, words, settings } = readCommandLine(args, flags);
      const modelFolder = modelFolderOf(values);
      const modelPath = () => modelFolder;
      const choice = {
        name,
        service: 'sentiment',
        notice: task.disclaimer,
        task: taskOf(modelPath()),
        modelPath,
      } as const;
      return createTaskJob({ ...choice, inputs: words }, values, settings);
    },
  };
}

/** Help of a command with `--model`. */
export function modelCommandHelp(
  name: string,
  description: readonly string[],
  flags: Flags,
): readonly string[] {
  return [
    `Usage: libtorch-serve ${name} --model FOLDER FILE... -o OUTPUT [--flag value ...]`,
    '',
    ...description,
    'Input formats: JSONL, CSV, TSV and Parquet; except for Parquet also .gz or .zst. - is a pipe. Quoted',
    'patterns ("data/*.jsonl") select files. Results are in the order of the rows.',
    '',
    ...describeFlags(flags),
    '',
    'Settings of the services configure the use of the machine (libtorch-serve --help):',
    '--workers, --dtype, --max-batch-tokens ...',
  ];
}

/** Absolute path of the folder in `--model`. @throws UsageError */
export function modelFolderOf(values: FlagValues): string {
  const model = values.get('model');
  if (!model) throw new UsageError('--model: expected a model folder');
  return path.resolve(model);
}
