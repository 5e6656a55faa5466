/** The flags of `classify` beside the settings of the services. */

export interface Flag {
  /** What stands behind it in the help; absent: it takes no value. */
  readonly value?: string;
  readonly help: string;
}

export const FLAGS = {
  output: { value: 'FILE', help: 'where the answers go, or - (also -o); its name says the format' },
  'input-format': {
    value: 'FORMAT',
    help: 'jsonl, csv, tsv, parquet or recording, where names do not say it',
  },
  'output-format': {
    value: 'FORMAT',
    help: 'jsonl, csv or parquet, where the name does not say it',
  },
  compression: {
    value: 'NAME',
    help: 'none, gzip or zstd; of Parquet, inside: none, snappy, gzip, zstd',
  },
  'text-column': { value: 'NAME', help: 'of the texts (default: text)' },
  'pair-column': { value: 'NAME', help: 'of the second texts of pairs (default: there are none)' },
  'signal-column': { value: 'NAME', help: 'of the samples of a window (default: signal)' },
  'id-column': { value: 'NAME', help: 'the one column that goes into the output: --keep NAME' },
  keep: { value: 'A,B', help: 'columns that go into the output, all or none (default: all)' },
  prefix: { value: 'TEXT', help: "before the names of the answer's columns" },
  'all-labels': { help: 'the probabilities of all labels, too' },
  rejects: { value: 'FILE', help: 'what has no answer (default: OUTPUT.rejects.jsonl)' },
  summary: { value: 'FILE', help: 'the summary as JSON' },
  resume: { help: 'goes on where a run that was ended had come to, or begins' },
  overwrite: { help: 'replaces an output that is there, and forgets a run that was ended' },
  channel: { value: 'NAME', help: "of recordings (default: the model's, or the only one)" },
  step: {
    value: 'SAMPLES',
    help: 'from one window of a recording to the next (default: a window)',
  },
  'sampling-rate': { value: 'HZ', help: 'of recordings that do not say it' },
  resample: { help: "recordings at another rate than the model's" },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof FLAGS;

export const EXIT_CODES = [
  [0, 'all rows have an answer'],
  [1, 'it could not go on: --resume does, once the cause is gone'],
  [2, 'a flag, a setting or a file that was named is wrong'],
  [3, 'the model did not come back from a batch'],
  [4, 'done, but some rows have no answer: see the rejects file'],
] as const;

/** The text of `classify --help`. */
export function classifyHelp(): string {
  const flags = Object.entries<Flag>(FLAGS).map(([name, { value, help }]) => {
    const written = `--${name}${value ? ` ${value}` : ''}`;
    return `  ${written.padEnd(26)}${help}`;
  });
  return [
    'Usage: libtorch-serve classify [sentiment|eeg] FILE... -o OUTPUT [--flag value ...]',
    '',
    'Classifies files without HTTP. Rows come as JSONL, CSV, TSV or Parquet, EEG also as recordings,',
    'EDF or CSV, that are cut into windows; all but Parquet also as .gz or .zst. - is a pipe, and',
    'quoted patterns ("data/*.jsonl") are files. Answers are in the order of the rows.',
    'What eeg says is a demonstration: no medical device, and no diagnosis.',
    '',
    ...flags,
    '',
    'The model and how it uses the machine are set as for the services (libtorch-serve --help):',
    '--sentiment-model-dir, --eeg-model-path, --workers, --dtype, --max-batch-tokens ...',
    '',
    'Exit codes:',
    ...EXIT_CODES.map(([code, meaning]) => `  ${code}  ${meaning}`),
    '',
  ].join('\n');
}
