import { helpText } from '../../src/commands/batch/batch-command';
import { BATCH_COMMANDS } from '../../src/commands/batch/commands';
import { CLASSIFY, FLAGS } from '../../src/commands/classify/classify-command';
import { UsageError } from '../../src/files/file-errors';
import type { Config } from '../../src/settings/config';

/** With no setting of the services. */
const jobOf = (args: readonly string[], { read } = CLASSIFY) =>
  read(args).toJob({ scheduling: {} } as Config);
const options = (...args: readonly string[]) => jobOf(args).options;

describe('readOptions', () => {
  it('takes sentiment where no service is named, and the format of the output from its name', () => {
    const read = options('a.csv', 'b.csv', '-o', 'out.csv.zst');
    expect(jobOf(['a.csv', '-o', 'x.csv']).service).toBe('sentiment');
    expect(read.inputs).toEqual(['a.csv', 'b.csv']);
    expect([read.outputFormat, read.compression]).toEqual(['csv', 'zstd']);
    expect(read.rejects).toBe('out.csv.zst.rejects.jsonl');
    expect(read.keep).toBe('all');
  });

  it('leaves the settings of the services to their own reader', () => {
    const { settings } = CLASSIFY.read([
      'eeg',
      'a.edf',
      '-o',
      'x.jsonl',
      '--workers',
      '2',
      '--dtype=int8',
    ]);
    expect(settings).toEqual(['eeg', '--workers=2', '--dtype=int8']);
  });

  it('takes settings in every form, and files whose names begin like flags', () => {
    const forms = ['--WORKERS', '2', '--max_batch_tokens=64', '--max-queue-delay-ms', '0'];
    const args = ['-o', 'x.csv', ...forms, '--', '-a.csv'];
    const { settings } = CLASSIFY.read(args);
    expect(options(...args).inputs).toEqual(['-a.csv']);
    expect(settings).toEqual([
      ...['sentiment', '--WORKERS=2', '--max_batch_tokens=64', '--max-queue-delay-ms=0'],
    ]);
  });

  it('takes - for pipes', () => {
    const read = options('-', '--input-format', 'jsonl', '--output', '-');
    expect(read.inputs).toEqual(['-']);
    expect([read.outputFormat, read.rejects]).toEqual(['jsonl', null]);
  });

  it.each([
    ['no file', ['-o', 'x.jsonl'], /expected the files/],
    ['no output', ['a.csv'], /--output/],
    ['an output without a format', ['a.csv', '-o', 'x.txt'], /has no known file extension/],
    ['an unknown format', ['a', '-o', 'x.csv', '--input-format', 'xml'], /--input-format.*xml/],
    ['a pipe without a format', ['-', '-o', 'x.csv'], /--input-format/],
    [
      'Parquet from a pipe',
      ['-', '--input-format', 'parquet', '-o', 'x.csv'],
      /cannot be read from standard input/,
    ],
    ['a pipe that is to go on', ['-', '--input-format', 'csv', '-o', 'x.csv', '--resume'], /again/],
    ['a pipe out that is to go on', ['a.csv', '-o', '-', '--resume'], /cannot be resumed/],
    ['both', ['a.csv', '-o', 'x.csv', '--resume', '--overwrite'], /use one of them, not both/],
    ['Parquet within gzip', ['a.csv', '-o', 'x.parquet.gz'], /internally/],
    ['snappy of CSV', ['a.csv', '-o', 'x.csv', '--compression', 'snappy'], /only Parquet/],
    ['a step of nothing', ['eeg', 'a.edf', '-o', 'x.csv', '--step', '0'], /--step.*above 0/],
    ['a flag without its value', ['a.csv', '-o'], /--output <value>' argument missing/],
    ['a flag in the place of a value', ['a.csv', '-o', '--resume'], /'-o' argument is ambiguous/],
    ['a flag twice', ['a.csv', '-o', 'x.csv', '-o', 'y.csv'], /twice/],
    [
      'a value too many',
      ['a.csv', '-o', 'x.csv', '--resume=yes'],
      /--resume' does not take an arg/,
    ],
    ['a flag that is none', ['a.csv', '-o', 'x.csv', '--resme'], /Unknown option '--resme'/],
    ['what every object has', ['a.csv', '-o', 'x.csv', '--toString'], /option '--toString'/],
    ['its value, too', ['a.csv', '-o', 'x.csv', '--constructor=1'], /option '--constructor'/],
    ['a prototype', ['a.csv', '-o', 'x.csv', '--__proto__', '1'], /option '--__proto__'/],
    ['an equals sign behind -o', ['a.csv', '-o=x.csv'], /expected -o FILE or --output=FILE/],
    ['recordings of texts', ['a.edf', '-o', 'x.csv', '--input-format', 'recording'], /only eeg/],
  ])('refuses %s', (_what, args, message) => {
    expect(() => CLASSIFY.read(args)).toThrow(UsageError);
    expect(() => CLASSIFY.read(args)).toThrow(message);
  });

  it.each([
    ['embed', 'no model', ['a.csv', '-o', 'x.csv'], /--model: expected a model folder/],
    ['embed', 'no number', ['--dimensions', '0'], /--dimensions: expected a whole number above 0/],
    ['embed', 'neither yes nor no', ['--normalize', 'yes'], /--normalize: expected one of true, f/],
    ['embed', 'a compressed array', ['--output', 'x.npy.gz'], /--output: x.npy.gz has no known/],
    ['embed', 'an array with gzip', ['--compression', 'gzip'], /NumPy reads them uncompressed/],
    [
      'embed',
      'columns in an array',
      ['--keep', 'id'],
      /--keep: .npy files contain only embeddings/,
    ],
    ['embed', 'an array in a pipe', ['-o', '-', '--output-format', 'npy'], /a pipe cannot provide/],
    ['embed', 'recordings', ['--input-format', 'recording'], /only eeg reads recordings/],
    ['rerank', 'an array', ['-o', 'x.npy'], /one of .jsonl, .csv, .parquet,/],
    ['rerank', 'two queries', ['--query', 'a', '--query-column', 'b'], /use one of them/],
    ['tag', 'no strategy', ['--aggregation-strategy', 'last'], /expected one of none, simple/],
    ['tag', 'no stride', ['--stride', '-1'], /'--stride' argument is ambiguous/],
    ['decide', 'no side', ['--truncation-side', 'both'], /expected one of left, right/],
    ['tag', 'flags of others', ['--dimensions', '2'], /Unknown option '--dimensions'/],
  ] as const)('%s refuses %s', (name, what, args, message) => {
    const model = what === 'no model' ? [] : ['--model', 'm', 'in.csv'];
    const hasOutput = args.some((arg) => arg === '-o' || arg === '--output');
    const output = hasOutput ? [] : ['-o', name === 'embed' ? 'x.npy' : 'x.csv'];
    const all = [...model, ...args, ...output];
    expect(() => BATCH_COMMANDS[name].read(all)).toThrow(UsageError);
    expect(() => BATCH_COMMANDS[name].read(all)).toThrow(message);
  });
});

describe('the help', () => {
  it('names every flag and every exit code, and says what eeg is not', () => {
    const help = helpText(CLASSIFY);
    for (const name of Object.keys(FLAGS)) expect(help).toContain(`--${name}`);
    expect(help).toContain('not a medical device');
    expect(help).toMatch(/\n {2}4 {2}complete, with rejected rows/);
  });

  it.each(['decide', 'embed', 'encode', 'rerank', 'tag'] as const)(
    'of %s names the flags of its task',
    (name) => {
      const command = BATCH_COMMANDS[name];
      const own = {
        decide: 'questions-column',
        embed: 'dimensions',
        encode: 'parts',
        rerank: 'raw-scores',
        tag: 'aggregation-strategy',
      }[name];
      for (const flag of ['model', 'resume', own]) expect(helpText(command)).toContain(`--${flag}`);
    },
  );
});
