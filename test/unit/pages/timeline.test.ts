import { createTimeline } from '../../../src/pages/eeg/timeline';
import { CONTINUOUS, secondsOf } from '../../../src/recordings/recording';
import { resampleSegments } from '../../../src/recordings/resample';

const segment = (
  firstSample: number,
  startSeconds: number,
  measuredRateHz: number | null = null,
) => ({
  firstSample,
  startSeconds,
  measuredRateHz,
});
/** 100 samples at 10 Hz, of which the last 40 follow a gap of 20 s. */
const SEGMENTS = [segment(0, 0), segment(60, 26)];

describe('createTimeline', () => {
  it('has the times of samples and gaps', () => {
    const { gaps, end, toSeconds, toSample, times } = createTimeline(SEGMENTS, 100, 10);
    expect(gaps).toEqual([{ from: 5.9, to: 26 }]);
    expect(end).toBeCloseTo(29.9, 9);
    for (const sample of [0, 59, 60, 99]) {
      expect(toSample(toSeconds(sample))).toBeCloseTo(sample, 9);
      expect(times()[sample]).toBeCloseTo(toSeconds(sample), 9);
    }
    expect([toSample(-1), toSample(15), toSample(25.9)]).toEqual([-10, 60, 60]);
  });

  it('counts samples without a sampling rate', () => {
    const { gaps, toSeconds, toSample } = createTimeline(CONTINUOUS, 100, null);
    expect([gaps, toSeconds(7), toSample(7)]).toEqual([[], 7, 7]);
  });

  it('shows segments that overlap in time one after the other', () => {
    const { gaps, times } = createTimeline([segment(0, 0), segment(60, 3)], 100, 10);
    expect(gaps.map(({ to, from }) => to - from)).toEqual([expect.closeTo(0.1, 9)]);
    expect(times().every((time, index) => Math.abs(time - index / 10) < 1e-9)).toBe(true);
  });

  it('uses measured sampling rates', () => {
    const { toSeconds, toSample } = createTimeline([segment(0, 1, 20)], 100, 10);
    expect([toSeconds(20), toSample(2)]).toEqual([2, 20]);
  });
});

describe('resampleSegments', () => {
  it('keeps the times of segments, and mixes no samples of two segments', () => {
    const samples = Float64Array.from({ length: 100 }, (_, index) => (index < 60 ? 1 : -1));
    const segments = [segment(0, 0), segment(60, 26, 10.001)];
    const resampled = resampleSegments({ samples, segments }, 10, 25);
    const [first, second] = resampled?.segments ?? [];
    expect(first).toEqual(segment(0, 0));
    expect(second).toEqual(segment(148, 26, expect.closeTo(25.0025, 9) as unknown as number));
    const parts = [resampled?.samples.slice(0, 148), resampled?.samples.slice(148)];
    expect(parts[0]?.every((value) => Math.abs(value - 1) < 1e-9)).toBe(true);
    expect(parts[1]?.every((value) => Math.abs(value + 1) < 1e-9)).toBe(true);
    expect(resampled && secondsOf(resampled, 148, 25)).toBe(26);
  });

  it('does not create more samples than memory can hold', () => {
    const samples = new Float64Array(1000);
    expect(resampleSegments({ samples, segments: CONTINUOUS }, 1e-6, 100)).toBe(null);
  });
});
