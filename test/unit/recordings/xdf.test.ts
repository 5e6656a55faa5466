import { readRecording } from '../../../src/recordings/read-recording';
import { secondsOf } from '../../../src/recordings/recording';
import { xdfChunk, xdfFile, xdfFooter, xdfHeader, xdfOffset, xdfSamples } from '../../helpers/xdf';

const EEG = { id: 1, rate: 10, format: 'double64', channels: 1 } as const;
type Sample = readonly [stamp: number, value: number];

/** Samples of a sine at 10 Hz, from a time on. */
function sine(from: number, count: number, rate = 10): Sample[] {
  return Array.from({ length: count }, (_, i) => [from + i / rate, Math.sin(i)]);
}

const read = (...chunks: readonly Buffer[]) => readRecording(xdfFile(...chunks), 'a.xdf');

describe('readXdf', () => {
  it('ignores a damaged footer, and continues behind it', () => {
    const { channels, notes } = read(
      xdfHeader(EEG),
      xdfSamples(1, sine(0, 20)),
      xdfFooter(1, '<info><sample_count>20</samp'),
      xdfSamples(1, sine(2, 20)),
    );
    expect(channels[0]?.samples.length).toBe(40);
    expect(notes).toEqual(['The file is damaged at 1 place, which is skipped.']);
  });

  it('removes samples behind the footer if the last clock offset is damaged', () => {
    const offsets = [0, 1, 2, 3].map((time) => xdfOffset(1, time, -0.001 * (time % 2)));
    const chunks = [xdfHeader(EEG), xdfSamples(1, sine(0, 40)), ...offsets];
    const footer = xdfFooter(1, '<info><sample_count>38.0</sample_count></info>');
    const samplesOf = (...more: Buffer[]) => read(...chunks, ...more).channels[0]?.samples.length;
    expect(samplesOf(footer)).toBe(40);
    expect(samplesOf(xdfOffset(1, 400, 90), footer)).toBe(38);
  });

  it('reads what is left of a file that ends in a chunk', () => {
    const whole = xdfFile(xdfHeader(EEG), xdfSamples(1, sine(0, 20)), xdfSamples(1, sine(2, 20)));
    const { channels, notes } = readRecording(whole.subarray(0, whole.length - 5), 'a.xdf');
    expect([channels[0]?.samples.length, notes]).toEqual([20, [expect.stringMatching(/damaged/)]]);
  });

  it('skips chunks of unknown kinds and streams without samples', () => {
    const { channels, notes } = read(
      xdfChunk(77, Buffer.from('new')),
      xdfHeader(EEG),
      xdfHeader({ id: 2, name: 'triggers', rate: 0, format: 'string', channels: 1 }),
      xdfHeader({ ...EEG, id: 3, name: 'off' }),
      xdfSamples(1, sine(0, 20)),
    );
    expect([channels.length, notes]).toEqual([1, ['“off 1” is skipped: it has no samples.']]);
  });

  it('names channels without labels after their stream', () => {
    const { channels } = read(xdfHeader({ ...EEG, name: 'amp' }), xdfSamples(1, sine(0, 5)));
    expect(channels.map(({ label, isNamed }) => [label, isNamed])).toEqual([['amp 1', false]]);
  });

  it('uses the measured sampling rate if the header is wrong', () => {
    const { channels, notes } = read(xdfHeader(EEG), xdfSamples(1, sine(5, 40, 20)));
    expect(channels[0]?.samplingRateHz).toBe(20);
    expect(notes).toEqual([expect.stringContaining('a measured sampling rate of 20 Hz')]);
  });

  it('begins at the first time stamp of all streams', () => {
    const { channels, annotations } = read(
      xdfHeader(EEG),
      xdfHeader({ id: 2, rate: 0, format: 'string', channels: 2 }),
      xdfSamples(2, [
        [100, 'a', ''],
        [103, 'b', 'c'],
      ]),
      xdfSamples(1, sine(101.5, 20)),
    );
    expect(annotations.map(({ onsetSeconds, text }) => [onsetSeconds, text])).toEqual([
      [0, 'a'],
      [3, 'b'],
      [3, 'c'],
    ]);
    const [channel] = channels;
    expect(channel && secondsOf(channel, 10, 10)).toBeCloseTo(2.5, 9);
  });

  it('finds small gaps only in streams that can drop samples', () => {
    const samples = [...sine(0, 20), ...sine(2.5, 20)];
    const firsts = (desc: string) =>
      read(xdfHeader({ ...EEG, desc }), xdfSamples(1, samples)).channels[0]?.segments.map(
        ({ firstSample }) => firstSample,
      );
    expect(firsts('')).toEqual([0]);
    const synchronization = '<can_drop_samples>true</can_drop_samples>';
    expect(firsts(`<synchronization>${synchronization}</synchronization>`)).toEqual([0, 20]);
  });

  it('skips channels with samples that are not finite, and streams whose time does not pass', () => {
    const two = { ...EEG, channels: 2 };
    const values = Array.from(
      { length: 5 },
      (_, i) => [i / 10, i, i === 3 ? Number.NaN : i] as const,
    );
    const { channels, unreadable } = read(
      xdfHeader(two),
      xdfHeader({ ...EEG, id: 2, name: 'stopped' }),
      xdfSamples(1, values),
      xdfSamples(2, [
        [1, 1],
        [1, 2],
        [1, 3],
      ]),
    );
    expect(channels.map(({ label }) => label)).toEqual(['stream 1 1']);
    expect(unreadable.map(({ label, reason }) => [label, reason])).toEqual([
      ['stream 1 2', 'has no finite number as sample 4'],
      ['stopped 1', 'has time stamps that do not increase'],
    ]);
  });

  it.each([
    ['channel_count', { ...EEG, channels: 0 }],
    ['channel_count', { ...EEG, channels: 100_000 }],
    ['nominal_srate', { ...EEG, rate: -1 }],
    ['nominal_srate', { ...EEG, rate: Number.NaN }],
    ['channel_format', { ...EEG, format: 'int128' as 'double64' }],
  ])('skips a stream with another %s', (_field, stream) => {
    const chunks = [xdfHeader(stream), xdfSamples(1, sine(0, 5))];
    expect(() => read(...chunks)).toThrow(/contains no stream of samples.*damaged at 2 places/);
  });
});
