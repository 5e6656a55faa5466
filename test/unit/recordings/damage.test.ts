import { readFileSync } from 'node:fs';
import path from 'node:path';
import { companionNames, readRecording } from '../../../src/recordings/read-recording';
import {
  type Recording,
  RecordingError,
  segmentWindowStarts,
} from '../../../src/recordings/recording';
import { seededRandom } from '../../helpers/random';
import { FIXTURES } from '../../helpers/service';

const FOLDER = path.join(FIXTURES, 'recordings');
const load = (name: string) => readFileSync(path.join(FOLDER, name));

/** Files with the length of the part in which each byte is changed. */
const FILES = [
  { name: 'gaps.edf', header: 1024 },
  { name: 'biosemi.bdf', header: 768 },
  { name: 'several-annotation-signals.bdf', header: 1024 },
  { name: 'streams.xdf', header: 3000 },
  { name: 'damaged-offset.xdf', header: 1000 },
  { name: 'vectorized.vhdr', header: 500 },
  { name: 'text.vhdr', header: 400 },
] as const;
const MAX_MS = 2000;

/** A recording that keeps its promises, or an error for the user. */
function readOrReject(
  bytes: Uint8Array,
  name: string,
  others = companionsOf(name),
): Recording | null {
  const start = performance.now();
  try {
    companionNames(bytes, name);
    const recording = readRecording(bytes, name, others);
    requireValid(recording);
    return recording;
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    expect(error.message).toMatch(/\.(?:edf|bdf|xdf|vhdr|vmrk|eeg)[:,]/);
    return null;
  } finally {
    expect(performance.now() - start).toBeLessThan(MAX_MS);
  }
}

function companionsOf(name: string): ReadonlyMap<string, Uint8Array> {
  if (!name.endsWith('.vhdr')) return new Map();
  const names = companionNames(load(name), name);
  return new Map(names.map((other) => [other, load(other)]));
}

function requireValid({ channels, annotations, startTime }: Recording): void {
  if (channels.length === 0) throw new Error('no channel');
  for (const { samples, samplingRateHz, segments } of channels) {
    if (samples.length === 0 || !samples.every(Number.isFinite)) throw new Error('samples');
    if (!(samplingRateHz === null || (samplingRateHz > 0 && samplingRateHz < Infinity))) {
      throw new Error(`a sampling rate of ${samplingRateHz}`);
    }
    const starts = segments.map(({ firstSample }) => firstSample);
    const isSorted = starts.every(
      (start, index) => index === 0 || start > (starts[index - 1] ?? 0),
    );
    const isInside = starts.every((start) => Number.isInteger(start) && start < samples.length);
    if (starts[0] !== 0 || !isSorted || !isInside) throw new Error(`segments at ${starts}`);
    if (!segments.every(({ startSeconds }) => Number.isFinite(startSeconds)))
      throw new Error('time');
  }
  for (const { onsetSeconds, durationSeconds } of annotations) {
    if (!Number.isFinite(onsetSeconds)) throw new Error(`an onset of ${onsetSeconds}`);
    if (durationSeconds !== null && !(durationSeconds >= 0)) throw new Error('a duration');
  }
  if (startTime !== null && Number.isNaN(Date.parse(startTime))) throw new Error(startTime);
}

describe.each(FILES)('$name', ({ name, header }) => {
  const whole = load(name);

  it('is read', () => {
    expect(readOrReject(whole, name)?.channels.length).toBeGreaterThan(0);
  });

  it('is read or rejected if it ends anywhere in its header', () => {
    for (let length = 0; length < Math.min(header, whole.length); length++) {
      // Too short for the format to be recognized: read as a table.
      readOrRejectAny(whole.subarray(0, length), name);
    }
  });

  it('is read or rejected with any changed bytes', () => {
    const random = seededRandom(23);
    const next = (below: number) => Math.floor(random() * below);
    const digits = Buffer.from('0123456789-+.eE =;[]\\,\0\xff\x14\x15', 'latin1');
    for (let round = 0; round < (name.endsWith('.xdf') ? 200 : 1000); round++) {
      const changed = Buffer.from(whole);
      for (let edits = 1 + next(6); edits > 0; edits--) {
        const at = next(random() < 0.7 ? Math.min(header, whole.length) : whole.length);
        changed[at] = random() < 0.5 ? (digits[next(digits.length)] as number) : next(256);
      }
      readOrRejectAny(changed, name);
    }
  });
});

function readOrRejectAny(bytes: Uint8Array, name: string): void {
  try {
    companionNames(bytes, name);
    requireValid(readRecording(bytes, name, companionsOf(name)));
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
}

describe.each(['vectorized', 'text', 'eeglab'])('files of %s.vhdr', (base) => {
  it.each(['eeg', 'vmrk'])('are read or rejected if .%s is changed or cut', (extension) => {
    const name = `${base}.vhdr`;
    const [header, other] = [load(name), load(`${base}.${extension}`)];
    const random = seededRandom(5);
    for (let round = 0; round < 300; round++) {
      const changed = Buffer.from(other.subarray(0, Math.floor(random() * (other.length + 1))));
      for (let edits = 0; edits < 4 && changed.length > 0; edits++) {
        changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
      }
      const files = new Map(companionsOf(name)).set(`${base}.${extension}`, changed);
      readOrReject(header, name, files);
    }
  });
});

describe('XDF', () => {
  const whole = load('streams.xdf');

  it('continues behind a damaged chunk', () => {
    const [complete, damaged] = [readOrReject(whole, 'x.xdf'), Buffer.from(whole)];
    // The length of a chunk of samples in the middle of the file.
    const at = damaged.indexOf(Buffer.from([3, 0, 1, 0, 0, 0]), whole.length / 2);
    damaged.fill(0xee, at - 4, at);
    const recording = readOrReject(damaged, 'x.xdf');
    expect(recording?.notes).toContainEqual(expect.stringContaining('damaged'));
    const lengthOf = (read: Recording | null) => read?.channels[0]?.samples.length ?? 0;
    expect(lengthOf(recording)).toBeLessThan(lengthOf(complete));
    expect(lengthOf(recording)).toBeGreaterThan(0);
  });

  it('rejects counts that exceed the chunk before it allocates memory', () => {
    const at = whole.indexOf(Buffer.from([3, 0, 1, 0, 0, 0])) + 6;
    const changed = Buffer.from(whole);
    changed.writeUInt8(8, at);
    changed.writeBigUInt64LE(2n ** 60n, at + 1);
    expect(readOrReject(changed, 'x.xdf')?.notes).toContainEqual(
      expect.stringContaining('damaged'),
    );
  });

  it('rejects entities that a document type defines', () => {
    const bomb =
      '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><info><name>&b;</name></info>';
    const content = Buffer.concat([Buffer.from([2, 0, 1, 0, 0, 0]), Buffer.from(bomb)]);
    const chunk = Buffer.concat([Buffer.from([1, content.length]), content]);
    expect(() => readRecording(Buffer.concat([Buffer.from('XDF:'), chunk]), 'x.xdf')).toThrow(
      /x\.xdf: contains no stream of samples\. The file is damaged at 1 place/,
    );
  });
});

describe('BrainVision', () => {
  const header = load('vectorized.vhdr').toString().replaceAll('vectorized.', '$b.');
  const changed = (from: string, to: string) => {
    expect(header).toContain(from);
    const bytes = Buffer.from(header.replace(from, to));
    return () => {
      companionNames(bytes, 'a.vhdr');
      readRecording(bytes, 'a.vhdr', new Map([['a.eeg', load('vectorized.eeg')]]));
    };
  };

  it.each(['../a.eeg', '/etc/passwd', 'C:\\a.eeg', '..', 'a/b.eeg'])(
    'rejects the data file %s',
    (file) => {
      expect(changed('$b.eeg', file)).toThrow(
        'a.vhdr, [Common Infos], DataFile: expected a file name without a folder',
      );
    },
  );

  it.each([
    [
      'NumberOfChannels=2',
      'NumberOfChannels=100000',
      /NumberOfChannels: expected an integer from 1 to 4096/,
    ],
    ['NumberOfChannels=2', 'NumberOfChannels=3', /\[Channel Infos\], Ch3: missing/],
    ['DataPoints=150', 'DataPoints=1000000000', /a\.eeg: is truncated/],
    [
      'SamplingInterval=3906.25',
      'SamplingInterval=0',
      /SamplingInterval: expected a positive number/,
    ],
    [
      'BinaryFormat=INT_16',
      'BinaryFormat=INT_8',
      /\[Binary Infos\], BinaryFormat: expected INT_16 or/,
    ],
    [
      'DataOrientation=VECTORIZED',
      'DataOrientation=',
      /DataOrientation: expected MULTIPLEXED or VECTORIZED/,
    ],
    ['0.5,µV', 'x,µV', /Ch1: the resolution is not a number/],
  ])('rejects %s replaced by %s', (from, to, message) => {
    expect(changed(from, to)).toThrow(RecordingError);
    expect(changed(from, to)).toThrow(message);
  });

  it('names the missing data file, and reads without the marker file', () => {
    const bytes = Buffer.from(header);
    expect(() => readRecording(bytes, 'a.vhdr')).toThrow('the data file “a.eeg” is missing');
    const { annotations, notes } = readRecording(
      bytes,
      'a.vhdr',
      new Map([['a.eeg', load('vectorized.eeg')]]),
    );
    expect([annotations, notes]).toEqual([[], [expect.stringContaining('“a.vmrk” is missing')]]);
  });

  it('says of a marker file that the header file is needed', () => {
    expect(() => readRecording(load('text.vmrk'), 'text.vmrk')).toThrow(/Open the header file/);
  });
});

it('makes no window across a gap', () => {
  const { channels } = readRecording(load('gaps.edf'), 'gaps.edf');
  const [channel] = channels;
  // Each record has a constant value: a window of 32 samples within a segment begins in one of its records.
  const starts = channel && segmentWindowStarts(channel, 48, 16);
  expect(starts).toEqual([0, 16, 32, 48, 96, 112]);
});
