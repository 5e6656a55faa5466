import { parseArgs } from 'node:util';
import { SETTINGS } from '../../settings/settings';
import { UsageError } from './errors';
import { FLAGS, type FlagName } from './flags';
import {
  COMPRESSIONS,
  type Compression,
  INPUT_FORMATS,
  type InputFormat,
  OUTPUT_FORMATS,
  type OutputFormat,
  PIPE,
  readName,
} from './formats';

/** Columns that go into the output. */
export type Keep = 'all' | readonly string[];

export interface Options {
  readonly service: 'sentiment' | 'eeg';
  /** As they were written: paths, patterns, `-`. */
  readonly inputs: readonly string[];
  /** null: names say it. */
  readonly inputFormat: InputFormat | null;
  readonly output: string;
  readonly outputFormat: OutputFormat;
  readonly compression: Compression;
  readonly textColumn: string;
  readonly pairColumn: string | null;
  readonly signalColumn: string;
  readonly keep: Keep;
  readonly prefix: string;
  readonly allLabels: boolean;
  /** null: standard error. */
  readonly rejects: string | null;
  readonly summary: string | null;
  readonly resume: boolean;
  readonly overwrite: boolean;
  readonly channel: string | null;
  /** Samples; null: a window. */
  readonly step: number | null;
  /** Hz. */
  readonly samplingRate: number | null;
  readonly resample: boolean;
}

/** Whether lines of JSON go into the output as they are, digit by digit. */
export function keepsLines({ service, outputFormat, keep }: Options): boolean {
  return service === 'sentiment' && outputFormat === 'jsonl' && keep === 'all';
}

type Values = ReadonlyMap<FlagName, string>;

/** What of a command line is `classify`'s own; the rest are settings of the services. */
export interface CommandLine {
  readonly options: Options;
  readonly settings: readonly string[];
}

/**
 * @param args after `classify`
 * @throws UsageError
 */
export function readOptions(args: readonly string[]): CommandLine {
  const { values, words, settings } = split(args);
  const service = words[0] === 'eeg' ? 'eeg' : 'sentiment';
  const inputs = words[0] === 'eeg' || words[0] === 'sentiment' ? words.slice(1) : words;
  if (inputs.length === 0)
    throw new UsageError('expected the files to classify, or - for a pipe; see classify --help');
  const output = values.get('output');
  if (!output) throw new UsageError('--output: expected a file for the answers, or - for a pipe');
  const outputFormat = oneOf(values, 'output-format', OUTPUT_FORMATS) ?? formatOf(output);
  const options: Options = {
    service,
    inputs,
    inputFormat: oneOf(values, 'input-format', INPUT_FORMATS),
    output,
    outputFormat,
    compression: compressionOf(values, output, outputFormat),
    textColumn: values.get('text-column') ?? 'text',
    pairColumn: values.get('pair-column') ?? null,
    signalColumn: values.get('signal-column') ?? 'signal',
    keep: keptOf(values),
    prefix: values.get('prefix') ?? '',
    allLabels: values.has('all-labels'),
    rejects: values.get('rejects') ?? (output === PIPE ? null : `${output}.rejects.jsonl`),
    summary: values.get('summary') ?? null,
    resume: values.has('resume'),
    overwrite: values.has('overwrite'),
    channel: values.get('channel') ?? null,
    step: numberOf(values, 'step', /^[1-9]\d{0,6}$/, 'a whole number of samples above 0'),
    samplingRate: numberOf(values, 'sampling-rate', /^\d*[1-9]\d*(\.\d+)?$/, 'a rate in Hz'),
    resample: values.has('resample'),
  };
  requireSense(options);
  return { options, settings: [service, ...settings] };
}

function split(args: readonly string[]) {
  const { tokens, positionals } = parsed(args);
  const values = new Map<FlagName, string>();
  const settings: string[] = [];
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value = '' } = token;
    if (!isOwn(name)) {
      settings.push(`${rawName}=${value}`);
      continue;
    }
    if (values.has(name)) throw new UsageError(`--${name}: is given twice`);
    if (rawName === '-o' && value.startsWith('=')) {
      throw new UsageError(`-o${value}: expected -o FILE or --output=FILE`);
    }
    values.set(name, value);
  }
  return { values: values as Values, words: positionals, settings };
}

/** Settings may be written as the services take them, too: `--max_batch_tokens`, `--MAX_BATCH_TOKENS`. */
const SETTING_FLAGS = Object.keys(SETTINGS).flatMap((name) => {
  const lower = name.toLowerCase();
  return [...new Set([lower.replaceAll('_', '-'), lower, name])];
});

const PARSED_FLAGS = Object.fromEntries<{ type: 'string' | 'boolean'; short?: string }>([
  ...SETTING_FLAGS.map((name) => [name, { type: 'string' }] as const),
  ...Object.entries(FLAGS).map(
    ([name, flag]) => [name, { type: 'value' in flag ? 'string' : 'boolean' }] as const,
  ),
  ['output', { type: 'string', short: 'o' }],
]);

/** @throws UsageError: a flag that does not exist, lacks its value, or takes none */
function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: PARSED_FLAGS,
      allowPositionals: true,
      tokens: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message.replaceAll('\n', ' '));
  }
}

function isOwn(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

function oneOf<Name extends string>(
  values: Values,
  flag: FlagName,
  names: readonly Name[],
): Name | null {
  const value = values.get(flag);
  if (value === undefined) return null;
  const name = names.find((one) => one === value);
  if (!name) throw new UsageError(`--${flag}: expected one of ${names.join(', ')}, not ${value}`);
  return name;
}

function numberOf(values: Values, flag: FlagName, form: RegExp, what: string): number | null {
  const value = values.get(flag);
  if (value === undefined) return null;
  if (!form.test(value)) throw new UsageError(`--${flag}: expected ${what}, not ${value}`);
  return Number(value);
}

function formatOf(output: string): OutputFormat {
  if (output === PIPE) return 'jsonl';
  const format = OUTPUT_FORMATS.find((one) => one === readName(output).format);
  if (format) return format;
  throw new UsageError(
    `--output: ${output} does not say its format: end it with .jsonl, .csv or .parquet, or use --output-format`,
  );
}

function compressionOf(values: Values, output: string, format: OutputFormat): Compression {
  const named = oneOf(values, 'compression', COMPRESSIONS);
  if (format !== 'parquet') {
    if (named === 'snappy') throw new UsageError('--compression: snappy is for Parquet alone');
    return named ?? readName(output).compression;
  }
  if (readName(output).compression !== 'none') {
    throw new UsageError('--output: Parquet is compressed inside: end its name with .parquet');
  }
  return named ?? 'snappy';
}

function keptOf(values: Values): Keep {
  const [id, keep] = [values.get('id-column'), values.get('keep')];
  if (id !== undefined && keep !== undefined) {
    throw new UsageError('--id-column: is --keep of one column: name it there, too');
  }
  if (id !== undefined) return [id];
  if (keep === undefined || keep === 'all') return 'all';
  return keep === 'none' || keep === '' ? [] : [...new Set(keep.split(','))];
}

function requireSense(options: Options): void {
  const { inputs, inputFormat, output, resume, overwrite } = options;
  if (inputs.filter((input) => input === PIPE).length > 1) {
    throw new UsageError('-: there is only one standard input');
  }
  if (inputs.includes(PIPE) && inputFormat === null) {
    throw new UsageError('-: a pipe does not say its format: use --input-format');
  }
  if (inputs.includes(PIPE) && inputFormat === 'parquet') {
    throw new UsageError('-: Parquet is read from its end: save it as a file first');
  }
  if (resume && inputs.includes(PIPE)) {
    throw new UsageError('--resume: a pipe cannot be read again: save it as a file first');
  }
  if (resume && output === PIPE) {
    throw new UsageError('--resume: what went into a pipe cannot be continued: name a file');
  }
  if (resume && overwrite) {
    throw new UsageError('--overwrite: begins anew, and --resume goes on: choose one');
  }
  if (inputFormat === 'recording' && options.service !== 'eeg') {
    throw new UsageError('--input-format: recordings are for eeg: classify eeg FILE...');
  }
}
