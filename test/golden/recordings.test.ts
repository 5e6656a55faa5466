import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { companionNames, readRecording } from '../../src/recordings/read-recording';
import { type Channel, type Recording, secondsOf } from '../../src/recordings/recording';
import { readFixture } from '../helpers/golden';
import { FIXTURES } from '../helpers/service';

interface GoldenFile {
  readonly file: string;
  readonly reader: 'mne' | 'pyedflib';
  readonly start: string | null;
  readonly channels: readonly {
    readonly label: string;
    readonly unit: string | null;
    readonly rate: number;
    readonly samples: readonly number[];
  }[];
  readonly annotations: readonly {
    readonly onset: number;
    readonly duration: number;
    readonly text: string;
    readonly channels: readonly string[];
  }[];
}

interface GoldenXdf {
  readonly file: string;
  readonly streams: readonly {
    readonly name: string;
    readonly format: string;
    readonly rate: number;
    readonly segments: readonly (readonly [first: number, last: number])[];
    readonly stamps: readonly number[];
    readonly values: readonly (readonly (number | string)[])[];
  }[];
}

/** Written by test/parity/recordings_golden.py. */
const GOLDEN = readFixture<{
  readonly files: readonly GoldenFile[];
  readonly triggers: Readonly<Record<string, readonly { onset: number; text: string }[]>>;
  readonly xdf: readonly GoldenXdf[];
}>('recordings', 'golden.json');
const FOLDER = path.join(FIXTURES, 'recordings');
/** Relative to the largest sample. */
const TOLERANCE = 1e-6;
const TIME_TOLERANCE = 1e-9;

function read(name: string): Recording {
  const file = readFileSync(path.join(FOLDER, name));
  const bytes = name.endsWith('z') ? gunzipSync(file) : file;
  const companions = companionNames(bytes, name).map(
    (other) => [other, readFileSync(path.join(FOLDER, other))] as const,
  );
  return readRecording(bytes, name, new Map(companions));
}

function expectSamples(actual: Float64Array, expected: readonly number[], place: string): void {
  expect([place, actual.length]).toEqual([place, expected.length]);
  const most = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const wrong = expected.findIndex(
    (value, index) => !(Math.abs((actual[index] as number) - value) <= TOLERANCE * most),
  );
  expect([place, wrong, actual[wrong], expected[wrong]]).toEqual([place, -1, undefined, undefined]);
}

describe.each(GOLDEN.files)('$file, as $reader reads it', (golden) => {
  const recording = read(golden.file);

  it('has the channels, rates and samples', () => {
    expect(recording.channels.map(({ label }) => label)).toEqual(
      golden.channels.map(({ label }) => label),
    );
    for (const [index, { samplingRateHz, samples, label }] of recording.channels.entries()) {
      const expected = golden.channels[index] as GoldenFile['channels'][number];
      expect(samplingRateHz).toBeCloseTo(expected.rate, 9);
      expectSamples(samples, expected.samples, label);
    }
  });

  it('has the annotations', () => {
    const actual = recording.annotations.filter(({ text }) => !/^\d+$/.test(text));
    expect(actual.map(({ text }) => text)).toEqual(golden.annotations.map(({ text }) => text));
    // MNE-Python does not read the channels of BrainVision markers.
    const hasChannels = !golden.file.endsWith('.vhdr');
    const channels = golden.annotations.map((one) => one.channels[0] ?? null);
    if (hasChannels) expect(actual.map(({ channel }) => channel)).toEqual(channels);
    for (const [index, { onset, duration }] of golden.annotations.entries()) {
      expect(actual[index]?.onsetSeconds).toBeCloseTo(onset, 6);
      // MNE-Python has 0 for no duration, pyEDFlib -1.
      expect(actual[index]?.durationSeconds ?? Math.min(0, duration)).toBeCloseTo(duration, 6);
    }
  });

  it('has the start', () => {
    const [seconds] = golden.start?.split(/[.+]/) ?? [];
    // MNE-Python does not read times with colons.
    const isRead = golden.file !== 'colons-in-time.edf';
    expect(recording.startTime?.split('.')[0]).toBe(isRead ? seconds : '2024-02-29T13:05:07');
  });
});

it.each(Object.entries(GOLDEN.triggers))('finds the triggers of %s as MNE-Python', (name, all) => {
  const codes = read(name).annotations.map(({ onsetSeconds, text }) => [onsetSeconds, text]);
  expect(codes).toEqual(all.map(({ onset, text }) => [onset, text]));
  expect(codes.length).toBeGreaterThan(2);
});

describe.each(GOLDEN.xdf)('$file, as pyxdf reads it', ({ file, streams }) => {
  const recording = read(file);
  const origin = Math.min(...streams.flatMap(({ stamps }) => stamps));
  const isEvents = ({ format, rate, values }: GoldenXdf['streams'][number]) =>
    format === 'string' || (rate === 0 && values.length === 1);

  it('has the samples and times of regular streams', () => {
    const channels = [...recording.channels];
    for (const { name, rate, segments, stamps, values } of streams.filter((one) => one.rate > 0)) {
      for (const expected of values as readonly (readonly number[])[]) {
        const channel = channels.shift() as Channel;
        expectSamples(channel.samples, expected, name);
        expect(channel.samplingRateHz).toBe(rate);
        expect(channel.segments.map(({ firstSample }) => firstSample)).toEqual(
          segments.map(([first]) => first),
        );
        const late = stamps.findIndex(
          (stamp, index) =>
            !(Math.abs(secondsOf(channel, index, rate) - (stamp - origin)) <= TIME_TOLERANCE),
        );
        expect([name, late]).toEqual([name, -1]);
      }
    }
    expect(channels).toEqual([]);
  });

  it('has the events as annotations', () => {
    const expected = streams
      .filter(isEvents)
      .flatMap(({ format, stamps, values }) =>
        stamps.map((stamp, index) => {
          const value = format === 'string' ? values[index]?.[0] : values[0]?.[index];
          return { onset: stamp - origin, text: String(value) };
        }),
      )
      .filter(({ text }) => text !== '')
      .sort((a, b) => a.onset - b.onset);
    expect(recording.annotations.map(({ text }) => text)).toEqual(expected.map(({ text }) => text));
    for (const [index, { onset }] of expected.entries()) {
      expect(recording.annotations[index]?.onsetSeconds).toBeCloseTo(onset, 9);
    }
  });
});

describe('gaps.edf', () => {
  const { channels, annotations } = read('gaps.edf');

  it('has a segment for each continuous run of records', () => {
    const seconds = [0, 9.75, 59.5];
    expect(channels.map(({ segments }) => segments)).toEqual(
      [32, 64].map((rate) =>
        [0, 3, 5].map((record, index) => ({
          firstSample: record * rate,
          startSeconds: seconds[index],
          measuredRateHz: null,
        })),
      ),
    );
  });

  it('has the times of annotations relative to the first record', () => {
    expect(annotations.map(({ onsetSeconds, text }) => [onsetSeconds, text])).toEqual([
      [0.25, 'stimulus 0'],
      [2.25, 'stimulus 2'],
      [10, 'stimulus 3'],
      [11, 'stimulus 4'],
      [59.75, 'stimulus 5'],
    ]);
  });
});

it('reads the channel of a BrainVision marker', () => {
  const { annotations } = read('pybv-binary_int16.vhdr');
  expect(annotations.map(({ channel }) => channel)).toEqual([null, 'T3', null]);
});

it('splits BrainVision where the recording was paused', () => {
  const [channel] = read('vectorized.vhdr').channels;
  expect(channel?.segments.map(({ firstSample }) => firstSample)).toEqual([0, 100]);
});

it('names channels of several streams after their streams', () => {
  const { channels, unreadable } = read('streams.xdf');
  expect(channels.map(({ label }) => label)).toEqual([
    'T3',
    'O1',
    'Cz (EEG amplifier)',
    'Cz (ECG & more)',
    'ECG',
  ]);
  expect(unreadable.map(({ label }) => label)).toEqual(['markers 5 1', 'markers 5 2']);
});

it('covers all files', () => {
  const used = [...GOLDEN.files, ...GOLDEN.xdf].map(({ file }) => file);
  const all = readdirSync(FOLDER).filter((name) => /\.(?:edf|bdf|vhdr|xdfz?)$/.test(name));
  expect(all.filter((name) => !used.includes(name))).toEqual(['gaps.edf']);
});
