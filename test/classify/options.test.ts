import { CLASSIFY } from '../../src/commands/classify/command';
import { FLAGS, readOptions } from '../../src/commands/classify/options';
import { helpText } from '../../src/commands/over-files/command';
import { UsageError } from '../../src/files/errors';

const options = (...args: readonly string[]) => readOptions(args).options;

describe('readOptions', () => {
  it('takes sentiment where no service is named, and the format of the output from its name', () => {
    const read = options('a.csv', 'b.csv', '-o', 'out.csv.zst');
    expect(read.service).toBe('sentiment');
    expect(read.inputs).toEqual(['a.csv', 'b.csv']);
    expect([read.outputFormat, read.compression]).toEqual(['csv', 'zstd']);
    expect(read.rejects).toBe('out.csv.zst.rejects.jsonl');
    expect(read.keep).toBe('all');
  });

  it('leaves the settings of the services to their own reader', () => {
    const { settings } = readOptions([
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
    const { options, settings } = readOptions(['-o', 'x.csv', ...forms, '--', '-a.csv']);
    expect(options.inputs).toEqual(['-a.csv']);
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
    ['an output without a format', ['a.csv', '-o', 'x.txt'], /does not say its format/],
    ['an unknown format', ['a', '-o', 'x.csv', '--input-format', 'xml'], /--input-format.*xml/],
    ['a pipe without a format', ['-', '-o', 'x.csv'], /--input-format/],
    ['Parquet from a pipe', ['-', '--input-format', 'parquet', '-o', 'x.csv'], /from its end/],
    ['a pipe that is to go on', ['-', '--input-format', 'csv', '-o', 'x.csv', '--resume'], /again/],
    ['a pipe out that is to go on', ['a.csv', '-o', '-', '--resume'], /cannot be continued/],
    ['both', ['a.csv', '-o', 'x.csv', '--resume', '--overwrite'], /choose one/],
    ['Parquet within gzip', ['a.csv', '-o', 'x.parquet.gz'], /inside/],
    ['snappy of CSV', ['a.csv', '-o', 'x.csv', '--compression', 'snappy'], /Parquet alone/],
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
    ['recordings of texts', ['a.edf', '-o', 'x.csv', '--input-format', 'recording'], /for eeg/],
  ])('refuses %s', (_what, args, message) => {
    expect(() => readOptions(args)).toThrow(UsageError);
    expect(() => readOptions(args)).toThrow(message);
  });
});

describe('the help', () => {
  it('names every flag and every exit code, and says what eeg is not', () => {
    const help = helpText(CLASSIFY);
    for (const name of Object.keys(FLAGS)) expect(help).toContain(`--${name}`);
    expect(help).toContain('no medical device');
    expect(help).toMatch(/\n {2}4 {2}done, but/);
  });
});
