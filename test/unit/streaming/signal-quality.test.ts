import {
  DEFAULT_QUALITY,
  type QualitySettings,
} from '../../../src/tasks/signal-classification/quality-thresholds';
import {
  problemsOf,
  SignalQualityAnalyzer,
} from '../../../src/tasks/signal-classification/signal-quality';
import { normal, seededRandom } from '../../helpers/random';

const RATE = 256;
const LENGTH = 690;

function analyzed(samples: Float64Array, given: Partial<QualitySettings> = {}, rate = RATE) {
  const analyzer = new SignalQualityAnalyzer(samples.length, rate, {
    ...DEFAULT_QUALITY,
    ...given,
  });
  analyzer.analyze(samples);
  const { peakToPeak, mainsShare, isUsable } = analyzer;
  return { problems: problemsOf(analyzer.problems), peakToPeak, mainsShare, isUsable };
}

function signal(value: (i: number, random: () => number) => number, length = LENGTH): Float64Array {
  const random = seededRandom(17);
  return Float64Array.from({ length }, (_, i) => value(i, random));
}

const brain = (i: number, random: () => number): number =>
  30 * Math.sin(i / 4) + 10 * normal(random);
const sine = (hz: number, i: number): number => Math.sin((2 * Math.PI * hz * i) / RATE);

describe('SignalQualityAnalyzer', () => {
  it('sees nothing wrong with a signal', () => {
    const { problems, mainsShare, isUsable } = analyzed(signal(brain));
    expect(problems).toEqual([]);
    expect(mainsShare).toBeLessThan(0.05);
    expect(isUsable).toBe(true);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('sees %d', (bad) => {
    for (const at of [0, 333, LENGTH - 1]) {
      const seen = analyzed(signal((i, random) => (i === at ? bad : brain(i, random))));
      expect(seen).toEqual({
        problems: ['not_finite'],
        peakToPeak: Number.NaN,
        mainsShare: Number.NaN,
        isUsable: false,
      });
    }
  });

  it('sees that what the model would take is not finite, for the filter looks further', () => {
    const analyzer = new SignalQualityAnalyzer(LENGTH, RATE, DEFAULT_QUALITY);
    const taken = new Float64Array(95).fill(1);
    const samples = Float64Array.from({ length: LENGTH }, (_, i) => sine(10, i));
    analyzer.analyze(samples, taken);
    expect(analyzer.isUsable).toBe(true);
    taken[94] = Number.NaN;
    analyzer.analyze(samples, taken);
    expect([problemsOf(analyzer.problems), analyzer.isUsable]).toEqual([['not_finite'], false]);
  });

  it('takes the largest doubles for finite', () => {
    const seen = analyzed(signal((i) => (i % 3 ? 1 : -1) * Number.MAX_VALUE));
    expect(seen.problems).not.toContain('not_finite');
  });

  it('sees a flat line, or one that is nearly so where the file says how much', () => {
    expect(analyzed(signal(() => 3)).problems).toEqual(['flat']);
    const near = signal((i) => 3 + (i % 2) * 0.1);
    expect(analyzed(near).problems).not.toContain('flat');
    expect(analyzed(near, { flatBelow: 0.2 }).problems).toContain('flat');
  });

  it('sees clipping: runs of equal samples at a limit, not single ones', () => {
    const clipped = signal((i) => Math.max(-20, Math.min(20, 30 * sine(7, i))));
    expect(analyzed(clipped).problems).toEqual(['clipped']);
    const rounded = signal((i, random) => Math.round(brain(i, random)));
    expect(analyzed(rounded).problems).toEqual([]);
    // A share of the window, whatever its length: 2 of 690 samples in a run are no run of 3.
    const pair = signal((i, random) => (i === 5 || i === 6 ? 500 : brain(i, random)));
    expect(analyzed(pair).problems).toEqual([]);
  });

  it('sees amplitudes out of range and jumps, where the file says what they are', () => {
    const samples = signal((i, random) => brain(i, random) + (i > 400 ? 300 : 0));
    expect(analyzed(samples).problems).toEqual([]);
    const settings = { amplitudeRange: [-200, 200] as const, jumpAbove: 150 };
    expect(analyzed(samples, settings).problems).toEqual(['amplitude', 'jump']);
    expect(analyzed(signal(brain), settings).problems).toEqual([]);
  });

  it.each([50, 60, 49.9, 60.1])('sees mains of %d Hz', (hz) => {
    const samples = signal((i, random) => brain(i, random) + 100 * sine(hz, i));
    const { problems, mainsShare } = analyzed(samples);
    expect(problems).toEqual(['mains_hum']);
    // 5,000 of 5,000 + 450 + 100.
    expect(mainsShare).toBeGreaterThan(0.8);
  });

  it('gives mains the share that they have', () => {
    const pure = analyzed(signal((i) => 5 + sine(50, i)));
    expect(pure.mainsShare).toBeCloseTo(1, 3);
    const half = analyzed(signal((i) => sine(50, i) + sine(11, i)));
    expect(half.mainsShare).toBeCloseTo(0.5, 2);
    const noise = analyzed(signal((_, random) => normal(random), 20_000));
    expect(noise.mainsShare).toBeLessThan(0.002);
  });

  it('sees no mains where the rate is too low for them', () => {
    const low = analyzed(signal(brain), {}, 95);
    expect(low.mainsShare).toBeNaN();
    expect(low.problems).toEqual([]);
    expect(
      analyzed(
        signal(() => 1),
        {},
        95,
      ).mainsShare,
    ).toBeNaN();
  });

  it('asks about what the file calls usable', () => {
    const flat = signal(() => 1);
    expect(analyzed(flat).isUsable).toBe(true);
    expect(analyzed(flat, { unusable: ['clipped'] }).isUsable).toBe(true);
    expect(analyzed(flat, { unusable: ['clipped', 'flat'] }).isUsable).toBe(false);
  });
});
