import { parseArgs } from 'node:util';
import { UsageError } from '../../files/file-errors';
import { enumFlag, type Flags, type FlagValues } from '../../files/flags';
import {
  COMPRESSIONS,
  type Compression,
  type FileOptions,
  INPUT_FORMATS,
  inferFromName,
  type KeptColumns,
  type OutputFormat,
  STANDARD_STREAM,
  TABLE_FORMATS,
} from '../../files/formats';
import { SETTINGS } from '../../settings/settings';
import type { TaskRows } from './rows/rows';

/** Flags of `FileOptions`. The help lists the flags of a command between these groups. */
const FORMAT_FLAGS = {
  output: {
    value: 'FILE',
    help: 'output file, or - (also -o); the file extension specifies the format',
  },
  'input-format': {
    value: 'FORMAT',
    help: 'jsonl, csv, tsv, parquet or recording (default: by file extension)',
  },
  'output-format': {
    value: 'FORMAT',
    help: 'jsonl, csv, parquet; embeddings also npy (default: by file extension)',
  },
  compression: {
    value: 'NAME',
    help: 'none, gzip or zstd; compression in Parquet: none, snappy, gzip, zstd',
  },
} as const satisfies Flags;

const COLUMN_FLAGS = {
  'id-column': { value: 'NAME', help: 'the only input column in the output, as --keep NAME' },
  keep: { value: 'A,B', help: 'input columns in the output, all or none (default: all)' },
  prefix: { value: 'TEXT', help: 'prefix of the names of the result columns' },
} as const satisfies Flags;

const RUN_FLAGS = {
  rejects: { value: 'FILE', help: 'rejected rows (default: OUTPUT.rejects.jsonl)' },
  summary: { value: 'FILE', help: 'summary as JSON' },
  resume: { help: 'continue an interrupted job, or start a new job' },
  overwrite: { help: 'replace an existing output and discard an interrupted job' },
} as const satisfies Flags;

/** Adds the flags of all commands to the flags of a command. */
export function withCommonFlags(own: Flags): Flags {
  return { ...FORMAT_FLAGS, ...own, ...COLUMN_FLAGS, ...RUN_FLAGS };
}

/** Lines of a help text. */
export function describeFlags(flags: Flags): readonly string[] {
  return Object.entries(flags).map(([name, { value, help }]) => {
    const written = `--${name}${value ? ` ${value}` : ''}`;
    return `  ${written.length < 26 ? written.padEnd(26) : `${written} `}${help}`;
  });
}

/** Parsed command line: flags of the command, positional arguments, and settings of the services as flags. */
export interface CommandLine {
  readonly values: FlagValues;
  readonly words: readonly string[];
  readonly settings: readonly string[];
}

/** Spellings of settings: `--max-batch-tokens`, `--max_batch_tokens`, `--MAX_BATCH_TOKENS`. */
const SETTING_FLAGS = Object.keys(SETTINGS).flatMap((name) => {
  const lower = name.toLowerCase();
  return [lower.replaceAll('_', '-'), lower, name];
});

/** @throws UsageError: unknown or duplicate flag, missing or unexpected value */
export function readCommandLine(args: readonly string[], flags: Flags): CommandLine {
  const { tokens, positionals } = parse(args, flags);
  const values = new Map<string, string>();
  const settings: string[] = [];
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value = '' } = token;
    if (!Object.hasOwn(flags, name)) {
      settings.push(`${rawName}=${value}`);
      continue;
    }
    if (values.has(name)) throw new UsageError(`--${name}: is given twice`);
    if (rawName === '-o' && value.startsWith('=')) {
      throw new UsageError(`-o${value}: expected -o FILE or --output=FILE`);
    }
    values.set(name, value);
  }
  return { values, words: positionals, settings };
}

function parse(args: readonly string[], flags: Flags) {
  const ofSettings = SETTING_FLAGS.map((name) => [name, { type: 'string' }] as const);
  const own = Object.entries(flags).map(([name, { value }]) => {
    const short = name === 'output' && { short: 'o' };
    return [name, { type: value ? 'string' : 'boolean', ...short }] as const;
  });
  const options = Object.fromEntries([...ofSettings, ...own]);
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
  } catch (error) {
    throw new UsageError((error as Error).message.replaceAll('\n', ' '));
  }
}

/**
 * @param task further output formats, and whether the task reads recordings
 * @throws UsageError
 */
export function readFileOptions(
  inputs: readonly string[],
  values: FlagValues,
  task: Pick<TaskRows<never, never, never>, 'formats' | 'readsRecordings'>,
): FileOptions {
  if (inputs.length === 0)
    throw new UsageError('expected the files to read, or - for a pipe; see --help');
  const output = values.get('output');
  if (!output) throw new UsageError('--output: expected an output file, or - for a pipe');
  const formats = [...TABLE_FORMATS, ...task.formats];
  const outputFormat = enumFlag(values, 'output-format', formats) ?? formatOf(output, formats);
  const options: FileOptions = {
    inputs,
    inputFormat: enumFlag(values, 'input-format', INPUT_FORMATS),
    output,
    outputFormat,
    compression: compressionOf(values, output, outputFormat),
    keep: outputFormat === 'npy' ? noneKept(values) : keptOf(values),
    prefix: values.get('prefix') ?? '',
    rejects:
      values.get('rejects') ?? (output === STANDARD_STREAM ? null : `${output}.rejects.jsonl`),
    summary: values.get('summary') ?? null,
    resume: values.has('resume'),
    overwrite: values.has('overwrite'),
  };
  requireSense(options);
  if (options.inputFormat === 'recording' && !task.readsRecordings) {
    throw new UsageError('--input-format: only eeg reads recordings: classify eeg FILE...');
  }
  return options;
}

function formatOf(output: string, formats: readonly OutputFormat[]): OutputFormat {
  if (output === STANDARD_STREAM) return 'jsonl';
  const named = /\.npy$/i.test(output) ? 'npy' : inferFromName(output).format;
  const format = formats.find((one) => one === named);
  if (format) return format;
  const extensions = formats.map((one) => `.${one}`).join(', ');
  throw new UsageError(
    `--output: ${output} has no known file extension. Use one of ${extensions}, or use --output-format`,
  );
}

function compressionOf(values: FlagValues, output: string, format: OutputFormat): Compression {
  const named = enumFlag(values, 'compression', COMPRESSIONS);
  const isCompressed = inferFromName(output).compression !== 'none';
  if (format === 'npy') {
    if ((named ?? 'none') === 'none' && !isCompressed) return 'none';
    throw new UsageError(
      '--compression: .npy files cannot be compressed, because NumPy reads them uncompressed',
    );
  }
  if (format !== 'parquet') {
    if (named === 'snappy') throw new UsageError('--compression: only Parquet supports snappy');
    return named ?? inferFromName(output).compression;
  }
  if (isCompressed) {
    throw new UsageError(
      '--output: Parquet files are compressed internally. Use a file name that ends in .parquet',
    );
  }
  return named ?? 'snappy';
}

/** Rejects `--keep` for .npy, which has no other columns. @throws UsageError */
function noneKept(values: FlagValues): KeptColumns {
  const asked = values.has('id-column') || !['none', ''].includes(values.get('keep') ?? 'none');
  if (asked)
    throw new UsageError(
      '--keep: .npy files contain only embeddings. Write .parquet, or remove --keep',
    );
  return [];
}

function keptOf(values: FlagValues): KeptColumns {
  const [id, keep] = [values.get('id-column'), values.get('keep')];
  if (id !== undefined && keep !== undefined) {
    throw new UsageError(
      '--id-column: equivalent to --keep with one column. Add the column to --keep',
    );
  }
  if (id !== undefined) return [id];
  if (keep === undefined || keep === 'all') return 'all';
  return keep === 'none' || keep === '' ? [] : [...new Set(keep.split(','))];
}

function requireSense(options: FileOptions): void {
  const { inputs, inputFormat, output, outputFormat, resume, overwrite } = options;
  const pipes = inputs.filter((input) => input === STANDARD_STREAM).length;
  const faults: readonly (readonly [boolean, string])[] = [
    [pipes > 1, '-: standard input can be used only once'],
    [pipes > 0 && inputFormat === null, '-: the format of a pipe is unknown. Use --input-format'],
    [
      pipes > 0 && inputFormat === 'parquet',
      '-: Parquet cannot be read from standard input, because its index is at the end of the file. Save it to a file first',
    ],
    [resume && pipes > 0, '--resume: a pipe cannot be read again. Save it to a file first'],
    [
      resume && output === STANDARD_STREAM,
      '--resume: output to a pipe cannot be resumed. Use a file',
    ],
    [
      output === STANDARD_STREAM && outputFormat === 'npy',
      '-: .npy files begin with the number of rows, which a pipe cannot provide. Use a file',
    ],
    [resume && overwrite, '--overwrite, --resume: use one of them, not both'],
  ];
  const fault = faults.find(([isThere]) => isThere);
  if (fault) throw new UsageError(fault[1]);
}
