import { resample } from '../../../src/recordings/resample';

const SECONDS = 6;

function sine(hz: number, rate: number): Float64Array {
  return Float64Array.from({ length: SECONDS * rate }, (_, i) =>
    Math.sin(2 * Math.PI * hz * (i / rate) + 0.3),
  );
}

/** Root mean square of the middle, away from the ends. */
function rms(values: Float64Array): number {
  const middle = values.subarray(values.length / 4, (values.length * 3) / 4);
  return Math.sqrt(middle.reduce((sum, value) => sum + value * value, 0) / middle.length);
}

describe('resample', () => {
  it.each([
    [250, 95, 10],
    [500, 95, 30],
    [256, 95, 40],
    [128, 95, 20],
    [100, 95, 40],
    [95, 250, 40],
    [64, 95, 25],
    [2000, 95, 3],
  ])(
    'takes %d Hz to %d Hz: a sine of %d Hz is what it would be if sampled there',
    (from, to, hz) => {
      const resampled = resample(sine(hz, from), from, to);
      const wanted = sine(hz, to).subarray(0, resampled.length);
      expect(Math.abs(resampled.length - SECONDS * to)).toBeLessThanOrEqual(
        Math.ceil(to / from) + 1,
      );
      const error = resampled.map((value, i) => value - (wanted[i] as number));
      expect(rms(error)).toBeLessThan(1e-3);
    },
  );

  it.each([
    [250, 95, 60],
    [500, 95, 50],
    [500, 95, 200],
    [1000, 95, 95],
  ])('takes away what would be aliased: %d Hz to %d Hz, a sine of %d Hz', (from, to, hz) => {
    expect(rms(resample(sine(hz, from), from, to))).toBeLessThan(2e-3);
  });

  it('keeps a constant to its ends, the same rate as it is, and the least of signals', () => {
    const constant = resample(new Float64Array(700).fill(5), 250, 95);
    expect(constant.every((value) => Math.abs(value - 5) < 1e-12)).toBe(true);
    expect(resample(Float64Array.of(1, 2, 3), 95, 95)).toEqual(Float64Array.of(1, 2, 3));
    expect(resample(Float64Array.of(7), 500, 95)).toEqual(Float64Array.of(7));
  });
});
