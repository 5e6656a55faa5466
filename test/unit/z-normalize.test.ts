import { zNormalize } from '../../src/tasks/signal-classification/z-normalize';
import { exactZNormalize } from '../helpers/exact';
import { normal, seededRandom } from '../helpers/random';

const LENGTH = 256;
const MAX = Number.MAX_VALUE;
const MIN = Number.MIN_VALUE;

function window(value: (index: number, random: () => number) => number): number[] {
  const random = seededRandom(7);
  return Array.from({ length: LENGTH }, (_, index) => value(index, random));
}

/** Within 1e-12 of the exact values, relative to the larger of them and 1. */
function expectExact(signal: readonly number[]): void {
  const expected = exactZNormalize(signal);
  const actual = zNormalize(signal);
  expect(actual).toHaveLength(signal.length);
  expected.forEach((value, index) => {
    const error = Math.abs((actual[index] as number) - value);
    // Negated so that NaN fails.
    if (!(error <= 1e-12 * Math.max(1, Math.abs(value)))) {
      throw new Error(`[${index}]: expected ${value}, received ${actual[index]}`);
    }
  });
}

describe('zNormalize', () => {
  it('is (v - mean) / (population std + 1e-8)', () => {
    // mean 2.5, std sqrt(1.25)
    const std = Math.sqrt(1.25) + 1e-8;
    expect(Array.from(zNormalize([1, 2, 3, 4]))).toEqual([
      -1.5 / std,
      -0.5 / std,
      0.5 / std,
      1.5 / std,
    ]);
  });

  it.each<[string, number[]]>([
    ['an EEG-like window', window((i, random) => 30 * Math.sin(i / 3) + 10 * normal(random))],
    ['whole numbers', window((i) => i)],
    ['one outlier', window((i) => (i === 100 ? 1e6 : 1))],
    ['small variations on a large offset', window((_, random) => 1e12 + normal(random))],
    ['one unit in the last place apart', window((i) => (i === 3 ? 1 + 2 ** -52 : 1))],
    ['an offset of 1e308', window((_, random) => 1e308 * (1 + 1e-13 * normal(random)))],
    ['magnitudes from 1e-300 to 1e300', window((i) => 10 ** (i * 2.34 - 300))],
    ['both ends of float64', window((i) => (i % 2 ? MAX : -MAX))],
    ['the top of float64', window((_, random) => MAX * (1 - 0.1 * random()))],
    ['one value at the top', window((i) => (i === 0 ? MAX : 0))],
    ['the largest below 2^1000', window((i, random) => (i ? random() : 1) * 2 ** 1000)],
    ['a std of about 1e-8', window((i) => (i % 2 ? 1e-8 : -1e-8))],
    ['a std of about 1e-20', window((_, random) => 1e-20 * normal(random))],
    ['a std of about 1e-160', window((_, random) => 1e-160 * normal(random))],
    ['subnormals', window((_, random) => MIN * Math.floor(100 * random()))],
    ['one smallest subnormal', window((i) => (i === 9 ? MIN : 0))],
  ])('is exact for %s', (_name, signal) => {
    expectExact(signal);
  });

  it('is exact when the same signal is scaled by any power of two', () => {
    const signal = window((_, random) => normal(random));
    for (let exponent = -1060; exponent <= 1020; exponent += 13) {
      expectExact(signal.map((value) => value * 2 ** exponent));
    }
  });

  it('keeps the epsilon in the units of the signal', () => {
    // std is 1e-8, so the divisor is 2e-8.
    const actual = zNormalize(window((i) => (i % 2 ? 1e-8 : -1e-8)));
    expect(actual[1]).toBeCloseTo(0.5, 12);
    expect(actual[0]).toBeCloseTo(-0.5, 12);
  });

  it.each([0, 0.1, -1 / 3, 1e-320, MIN, 1e300, MAX, -MAX])(
    'makes zeros of a signal that is constantly %p',
    (value) => {
      expect(Array.from(zNormalize(window(() => value)))).toEqual(Array(LENGTH).fill(0));
    },
  );

  it('takes 0 and -0 for the same value', () => {
    expect(Array.from(zNormalize(window((i) => (i % 2 ? 0 : -0))))).toEqual(Array(LENGTH).fill(0));
  });

  it('leaves its input as it was', () => {
    const signal = window((i) => i);
    zNormalize(signal);
    expect(signal).toEqual(window((i) => i));
  });
});
