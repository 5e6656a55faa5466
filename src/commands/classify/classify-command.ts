import type { BatchCommand } from '../batch/batch-command';
import { describeFlags, readCommandLine, withCommonFlags } from '../batch/file-options';
import { rowsOf } from '../batch/rows/task-rows';
import { createTaskJob } from '../batch/task-job';
import { PRESETS } from '../presets';

export const NOTICE = 'A demonstration: no medical device, and no diagnosis.';

/** Flags of `classify`, without the settings of the services. */
export const FLAGS = withCommonFlags({
  ...rowsOf(PRESETS.sentiment.task).flags,
  ...rowsOf(PRESETS.eeg.task).flags,
  follow: { help: 'eeg: follow a growing file of samples, one result per complete window' },
});

/** `libtorch-serve classify`, which runs the models of the services. */
export const CLASSIFY: BatchCommand = {
  help: [
    'Usage: libtorch-serve classify [sentiment|eeg] FILE... -o OUTPUT [--flag value ...]',
    '       libtorch-serve classify eeg --follow FILE [-o OUTPUT] [--flag value ...]',
    '',
    'Classifies files without HTTP. Input formats: JSONL, CSV, TSV and Parquet, for EEG also recordings',
    '(EDF, BDF, BrainVision, XDF, CSV), split into windows. All except Parquet also .gz or .zst.',
    '- is a pipe. Quoted patterns ("data/*.jsonl") select files. Results are in the order of the rows.',
    'eeg is a demonstration: not a medical device, not a diagnosis.',
    '',
    ...describeFlags(FLAGS),
    '',
    'Settings of the services configure the model and the use of the machine (libtorch-serve --help):',
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
