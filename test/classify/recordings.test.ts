import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expandInputs } from '../../src/files/input-files';
import { companionFiles } from '../../src/files/readers/recording-files';
import { selectChannel, type WindowOptions } from '../../src/files/readers/recording-reader';
import { readRecording } from '../../src/recordings/read-recording';
import { RecordingError } from '../../src/recordings/recording';
import { type EdfSignal, makeEdf } from '../helpers/edf';
import { FIXTURES, ROOT } from '../helpers/service';
import { classify, temporaryFolder } from './command';

const folder = temporaryFolder();
afterAll(folder.remove);

const OPTIONS: WindowOptions = { channel: null, step: null, samplingRate: null, resample: false };
const MODEL = { windowLength: 2, channel: 'T3', samplingRateHz: null };

/** What the model for T3 is given of a file, and the notes; or why it is given nothing. */
function chosen(file: Buffer | string, channel: string | null = null) {
  const bytes = Uint8Array.from(Buffer.from(file as Buffer));
  try {
    const recording = readRecording(bytes, 'x');
    const options = { ...OPTIONS, channel };
    const { label, samples } = selectChannel(recording, { model: MODEL, options });
    return { label, samples: [...samples], notes: recording.notes };
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    return { problem: error.message };
  }
}

const signal = (label: string, value: number): EdfSignal => ({
  label,
  unit: 'uV',
  perRecord: 2,
  digital: [value, value, value, value],
});
const O1 = signal('O1', 1000);
const T3 = signal('T3', 2000);
const WHOLE = makeEdf({ channels: [O1, T3], recordSeconds: 1 });
const SAMPLES = chosen(WHOLE).samples as readonly number[];

/** Where the fields of the second of two signals are, and their length. */
const FIELDS = {
  label: [0, 16],
  'physical minimum': [16 + 80 + 8, 8],
  'physical maximum': [16 + 80 + 8 + 8, 8],
  'digital minimum': [16 + 80 + 8 + 16, 8],
  'digital maximum': [16 + 80 + 8 + 24, 8],
} as const;

/** The file with another field in the header of T3, padded as given. */
function withField(field: keyof typeof FIELDS, value: string, padding = ' '): Buffer {
  const [before, width] = FIELDS[field];
  const file = Buffer.from(WHOLE);
  file.write(value.padEnd(width, padding), 256 + before * 2 + width, 'latin1');
  return file;
}

describe('EDF', () => {
  it('has the samples of T3', () => {
    expect(SAMPLES).toHaveLength(4);
    expect(SAMPLES.every((value) => Math.abs(value - 200) < 0.01)).toBe(true);
  });

  const ranges = [
    ['physical minimum', '-3276.8'],
    ['physical maximum', '3276.7'],
    ['digital minimum', '-32768'],
    ['digital maximum', '32767'],
  ] as const;

  it.each(ranges)('reads any way in which the %s is written', (field, value) => {
    const ways = [value, ` ${value}`, value.replace('.', ','), `${value}\0`, value.concat('\0x')];
    const exponents = [`${value}e0`, `${value}E+0`].filter(({ length }) => length <= 8);
    for (const written of [...ways, ...exponents].filter(({ length }) => length <= 8)) {
      for (const padding of [' ', '\0']) {
        const { samples } = chosen(withField(field, written, padding));
        expect([written, samples]).toEqual([written, SAMPLES]);
      }
    }
  });

  const bad = ['', 'abc', '1e', '0x10', '1.234,5', '1,2,3', 'NaN', '--5', '5-', '1 2', '\0', '-'];

  it.each(ranges)('names T3 where its %s is no number, and takes no other channel', (field) => {
    for (const written of bad) {
      expect(chosen(withField(field, written))).toEqual({
        problem: `x: channel “T3” has an invalid ${field} in the header.`,
      });
    }
  });

  it('names T3 where its range is empty', () => {
    for (const [field, value] of [
      ['physical minimum', '3276.7'],
      ['digital minimum', '32767'],
    ] as const) {
      expect(chosen(withField(field, value)).problem).toMatch(/“T3” has an empty range/);
    }
  });

  it.each(['T3', 'EEG T3-REF', 'EEG T3', 't3', 'T3-A1', 'T7'])('finds %s', (label) => {
    for (const padding of [' ', '\0']) {
      expect(chosen(withField('label', label, padding))).toMatchObject({ label, samples: SAMPLES });
    }
  });

  it.each(['T4', 'X', '', 'T30', 'C3'])('takes no other channel: %j', (label) => {
    const alone = makeEdf({ channels: [signal('O1', 1)], recordSeconds: 1 });
    expect(chosen(withField('label', label)).problem).toMatch(/channel “T3” is missing/);
    expect(chosen(alone).problem).toMatch(/channel “T3” is missing/);
  });

  it('takes a channel without a name if it is alone', () => {
    const alone = makeEdf({ channels: [{ ...T3, label: '' }], recordSeconds: 1 });
    expect(chosen(alone).samples).toEqual(SAMPLES);
    expect(chosen(alone, 'T3').problem).toMatch(/channel “T3” is missing/);
  });

  it('leaves out a channel without samples, and names T3 if it has none', () => {
    const off = { ...signal('Off', 0), perRecord: 0 };
    const { samples, notes } = chosen(makeEdf({ channels: [T3, off], recordSeconds: 1 }));
    expect([samples, notes]).toEqual([SAMPLES, ['“Off” is skipped: it has no samples.']]);
    const none = makeEdf({ channels: [O1, { ...T3, perRecord: 0 }], recordSeconds: 1 });
    expect(chosen(none).problem).toBe('x: channel “T3” has no samples.');
  });

  it.each([-2, 0, 1, 3, 2000, 'x', ''])('reads all records if the header says %j', (records) => {
    const file = Buffer.from(WHOLE);
    file.write(String(records).padEnd(8), 236, 'latin1');
    const { samples, notes } = chosen(file);
    expect(samples).toEqual(SAMPLES);
    expect(notes).toEqual([expect.stringMatching(/2 (complete )?records/)]);
    if (typeof records === 'number') expect(notes?.[0]).toContain(String(records));
  });

  it('says that the last record is not whole', () => {
    const { samples, notes } = chosen(Buffer.concat([WHOLE, Buffer.alloc(3)]));
    expect([samples, notes]).toEqual([SAMPLES, [expect.stringContaining('3 bytes are skipped')]]);
  });

  it.each(['1', '1,0', '1.0\0', '1e0', '+1', ',1e1'])('takes %j for a second', (duration) => {
    const file = Buffer.from(WHOLE);
    file.write(duration.padEnd(8, '\0'), 244, 'latin1');
    const recording = readRecording(file, 'x');
    expect(recording.channels.map(({ samplingRateHz }) => samplingRateHz)).toEqual([2, 2]);
  });
});

describe('tables', () => {
  const column = (cell: (value: number) => string) =>
    `O1;T3\n${[-3, 2, -1].map((value) => `1;${cell(value)}`).join('\n')}`;

  it.each([
    ['−3', (value: number) => String(value).replace('-', '\u2212')],
    ['-3,0', (value: number) => `${value},0`],
    ['-30e\u22121', (value: number) => `${value * 10}e\u22121`],
    [' -3 ', (value: number) => `\u00a0${value} `],
  ])('reads %s', (_written, cell) => {
    expect(chosen(column(cell))).toMatchObject({ label: 'T3', samples: [-3, 2, -1] });
  });

  it.each([
    ['words', () => 'x'],
    ['nothing', () => ''],
    ['not a number', () => 'NaN'],
    ['digits of another script', () => '\u0663'],
    ['two points', () => '1.2.3'],
  ])('names T3 where it holds %s, and takes no other channel', (_what, cell) => {
    expect(chosen(column(cell)).problem).toContain('“T3”');
  });

  it('takes no other channel that is alone', () => {
    expect(chosen('O1\n1\n2\n3').problem).toMatch(/channel “T3” is missing/);
    expect(chosen('1\n2\n3').samples).toEqual([1, 2, 3]);
    // Either could be T3.
    expect(chosen('1;1.2.3\n2;1.2.3\n3;1.2.3').problem).toMatch(/channel “T3” is missing/);
  });

  it('does not lose what is behind a decimal comma', () => {
    expect(chosen('T3\n1,5\n2,5').problem).toMatch(/line 2: has 2 cells, the header has 1/);
  });

  it('takes no sample that cannot be read for a unit', () => {
    expect(chosen('T3\nNaN\n2\n3').problem).toMatch(/line 2: “T3” is "NaN", expected a number/);
    expect(chosen('T3\nuV\n2\n3').samples).toEqual([2, 3]);
  });
});

describe('classify eeg', () => {
  const fixture = (name: string) => path.join(FIXTURES, 'files', name);

  it('classifies T3 of files that other programs write', async () => {
    const names = [
      ...['right.edf', 'comma-in-t3.edf', 'half-counted.edf', 'nul-padded.edf'],
      ...['switched-off.edf', 'minus-sign-in-t3.csv'],
    ];
    const args = ['eeg', ...names.map(fixture), '-o', 'out.jsonl'];
    const { code, stderr } = await classify(args, { cwd: folder.path, env });
    const lines = readFileSync(path.join(folder.path, 'out.jsonl'), 'utf8').trim().split('\n');
    const rows = lines.map((line) => JSON.parse(line));
    expect([code, rows.map(({ recording, channel }) => [recording, channel])]).toEqual([
      0,
      names.flatMap((name) => Array(name.endsWith('.csv') ? 1 : 2).fill([name, 'T3'])),
    ]);
    const answers = (name: string) =>
      rows
        .filter(({ recording }) => recording === name)
        .map(({ diagnosis, confidence }) => [diagnosis, confidence]);
    for (const name of names.slice(1)) {
      const read = answers(name);
      expect([name, read]).toEqual([name, answers('right.edf').slice(0, read.length)]);
    }
    expect(stderr).toContain('The file has 6 records, which are read; the header specifies 3');
  });

  const env = { EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt') };
  const recording = (name: string) => path.join(FIXTURES, 'recordings', name);
  const rowsOf = (output: string) =>
    readFileSync(path.join(folder.path, output), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('classifies BDF, EDF+D, BrainVision and XDF, without windows across gaps', async () => {
    const names = [
      'mne-export.bdf',
      'gaps.edf',
      'pybv-binary_int16.vhdr',
      'streams.xdf',
      'streams.xdfz',
    ];
    const options = ['--channel', 'T3', '--resample', '--step', '16', '-o', 'formats.jsonl'];
    const args = ['eeg', ...names.map(recording), ...options];
    const { code, stderr } = await classify(args, { cwd: folder.path, env });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('gaps.edf: Channel “T3” has 2 gaps'),
    ]);
    const rows = rowsOf('formats.jsonl');
    const of = (name: string) => rows.filter((row) => row.recording === name);
    expect(names.map((name) => of(name).length)).toEqual([2, 2, 2, 8, 8]);
    // The first segment has 96 samples at 32 Hz, so 283 at 95 Hz; the others have fewer than 256.
    expect(of('gaps.edf').map(({ start_sample: at }) => at)).toEqual([0, 16]);
    const answers = (name: string) => of(name).map(({ confidence }) => confidence);
    expect(answers('streams.xdfz')).toEqual(answers('streams.xdf'));
  });

  it('rejects files that are missing, too large or not whole, and classifies the others', async () => {
    const copy = (name: string, to = name) =>
      copyFileSync(recording(name), path.join(folder.path, to));
    copy('neurone.vhdr', 'alone.vhdr');
    writeFileSync(path.join(folder.path, 'bomb.xdf.gz'), gzipSync(Buffer.alloc(201 * 1024 ** 2)));
    const cut = readFileSync(recording('mne-export.bdf')).subarray(0, 700);
    writeFileSync(path.join(folder.path, 'cut.bdf'), cut);
    copy('streams.xdf', 'good.xdf');
    const names = ['alone.vhdr', 'bomb.xdf.gz', 'cut.bdf', 'good.xdf'];
    const args = ['eeg', ...names, '--resample', '-o', 'rejects.jsonl'];
    const { code } = await classify(args, { cwd: folder.path, env });
    expect([code, rowsOf('rejects.jsonl').length]).toEqual([4, 1]);
    expect(rowsOf('rejects.jsonl.rejects.jsonl').map(({ file, reason }) => [file, reason])).toEqual(
      [
        ['alone.vhdr', expect.stringContaining('the data file “neurone.eeg” is missing')],
        ['bomb.xdf.gz', expect.stringContaining('the recording is larger than 200 MB')],
        ['cut.bdf', expect.stringContaining('is truncated in its header')],
      ],
    );
    const input = readFileSync(recording('neurone.vhdr'));
    const piped = ['eeg', '-', '--input-format', 'recording', '-o', 'piped.jsonl'];
    await classify(piped, { cwd: folder.path, env, stdin: input });
    expect(rowsOf('piped.jsonl.rejects.jsonl')).toEqual([
      expect.objectContaining({
        reason: expect.stringContaining('Pass the path of the .vhdr file'),
      }),
    ]);
  });

  it('watches the data files of BrainVision for changes, which --resume rejects', async () => {
    const inputs = await companionFiles(await expandInputs([recording('vectorized.vhdr')]));
    expect(inputs.map(({ name }) => path.basename(name))).toEqual([
      'vectorized.eeg',
      'vectorized.vmrk',
    ]);
    const file = path.join(folder.path, 'broken.vhdr');
    writeFileSync(file, 'Brain Vision Data Exchange Header File Version 1.0\n');
    expect(await companionFiles(await expandInputs([file]))).toEqual([]);
  });
});
