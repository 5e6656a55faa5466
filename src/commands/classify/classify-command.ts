import type { BatchCommand } from '../batch/batch-command';
import { describeFlags, readCommandLine, withCommonFlags } from '../batch/file-options';
import { rowsOf } from '../batch/rows/task-rows';
import { createTaskJob } from '../batch/task-job';
import { PRESETS } from '../presets';

export const NOTICE = 'A demonstration: no medical device, and no diagnosis.';

/** The flags of `classify` beside the settings of the services. */
export const FLAGS = withCommonFlags({
  ...rowsOf(PRESETS.sentiment.task).flags,
  ...rowsOf(PRESETS.eeg.task).flags,
  follow: { help: 'eeg: a file of samples that grows, each window as soon as it is complete' },
});

/** `libtorch-serve classify`: the models of the services. */
export const CLASSIFY: BatchCommand = {
  help: [
    'Usage: libtorch-serve classify [sentiment|eeg] FILE... -o OUTPUT [--flag value ...]',
    '       libtorch-serve classify eeg --follow FILE [-o OUTPUT] [--flag value ...]',
    '',
    'Classifies files without HTTP. Rows come as JSONL, CSV, TSV or Parquet, EEG also as recordings,',
    'EDF or CSV, that are cut into windows; all but Parquet also as .gz or .zst. - is a pipe, and',
    'quoted patterns ("data/*.jsonl") are files. Answers are in the order of the rows.',
    'What eeg says is a demonstration: no medical device, and no diagnosis.',
    '',
    ...describeFlags(FLAGS),
    '',
    'The model and how it uses the machine are set as for the services (libtorch-serve --help):',
    '--sentiment-model-dir, --eeg-model-path, --workers, --dtype, --max-batch-tokens ...',
  ],
  read: (args) => {
    const { values, words, settings } = readCommandLine(args, FLAGS);
    const isNamed = words[0] === 'eeg' || words[0] === 'sentiment';
    const service = words[0] === 'eeg' ? 'eeg' : 'sentiment';
    const notice = service === 'eeg' ? NOTICE : null;
    const inputs = isNamed ? words.slice(1) : words;
    const choice = { name: service, service, notice, inputs, ...PRESETS[service] } as const;
    return createTaskJob(choice, values, settings);
  },
};
