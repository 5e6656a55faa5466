import { UsageError } from '../../files/errors';
import type { FileOptions } from '../../files/formats';
import type { CuttingOptions } from '../../files/readers/windows';
import type { InputColumns } from '../../tasks/rows';
import {
  COLUMN_FLAGS,
  describeFlags,
  FORMAT_FLAGS,
  RUN_FLAGS,
  readCommandLine,
  readFileOptions,
} from '../over-files/options';

export interface Options extends FileOptions, InputColumns, CuttingOptions {
  readonly service: 'sentiment' | 'eeg';
  readonly allLabels: boolean;
}

/** The flags of `classify` beside the settings of the services. */
export const FLAGS = {
  ...FORMAT_FLAGS,
  'text-column': { value: 'NAME', help: 'of the texts (default: text)' },
  'pair-column': { value: 'NAME', help: 'of the second texts of pairs (default: there are none)' },
  'signal-column': { value: 'NAME', help: 'of the samples of a window (default: signal)' },
  ...COLUMN_FLAGS,
  'all-labels': { help: 'the probabilities of all labels, too' },
  ...RUN_FLAGS,
  channel: { value: 'NAME', help: "of recordings (default: the model's, or the only one)" },
  step: {
    value: 'SAMPLES',
    help: 'from one window of a recording to the next (default: a window)',
  },
  'sampling-rate': { value: 'HZ', help: 'of recordings that do not say it' },
  resample: { help: "recordings at another rate than the model's" },
};

/**
 * @param args after `classify`
 * @throws UsageError
 */
export function readOptions(args: readonly string[]) {
  const { values, words, settings } = readCommandLine(args, FLAGS);
  const service = words[0] === 'eeg' ? 'eeg' : 'sentiment';
  const inputs = words[0] === 'eeg' || words[0] === 'sentiment' ? words.slice(1) : words;
  const number = (flag: keyof typeof FLAGS, form: RegExp, what: string): number | null => {
    const value = values.get(flag);
    if (value === undefined) return null;
    if (!form.test(value)) throw new UsageError(`--${flag}: expected ${what}, not ${value}`);
    return Number(value);
  };
  const options: Options = {
    service,
    ...readFileOptions(inputs, values),
    textColumn: values.get('text-column') ?? 'text',
    pairColumn: values.get('pair-column') ?? null,
    signalColumn: values.get('signal-column') ?? 'signal',
    allLabels: values.has('all-labels'),
    channel: values.get('channel') ?? null,
    step: number('step', /^[1-9]\d{0,6}$/, 'a whole number of samples above 0'),
    samplingRate: number('sampling-rate', /^\d*[1-9]\d*(\.\d+)?$/, 'a rate in Hz'),
    resample: values.has('resample'),
  };
  if (options.inputFormat === 'recording' && service !== 'eeg') {
    throw new UsageError('--input-format: recordings are for eeg: classify eeg FILE...');
  }
  return { options, settings: [service, ...settings] };
}

/** The text of `classify --help`, but for the exit codes at its end. */
export const HELP = [
  'Usage: libtorch-serve classify [sentiment|eeg] FILE... -o OUTPUT [--flag value ...]',
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
];
