import { generate } from '../../../src/pages/eeg/generate';
import { clampStart, meanProbabilities, shiftStart } from '../../../src/pages/eeg/windows';
import {
  type Channel,
  CONTINUOUS,
  findChannel,
  secondsOf,
  segmentWindowStarts,
  windowStarts,
} from '../../../src/recordings/recording';

function channels(...labels: string[]): Channel[] {
  return labels.map((label) => ({
    label,
    isNamed: true,
    unit: null,
    samplingRateHz: null,
    samples: Float64Array.of(0),
    segments: CONTINUOUS,
  }));
}

describe('windows', () => {
  it('lie side by side, whole ones only', () => {
    expect(windowStarts(1023, 256)).toEqual([0, 256, 512]);
    expect(windowStarts(1024, 256)).toEqual([0, 256, 512, 768]);
    expect(windowStarts(255, 256)).toEqual([]);
  });

  it('begin where a whole one fits', () => {
    const signal = { samples: new Float64Array(1000), segments: CONTINUOUS };
    expect([-5, 10.6, 999].map((start) => clampStart(start, signal, 256))).toEqual([0, 11, 744]);
  });

  it('begin where a whole one fits between gaps', () => {
    const segments = [0, 300, 400].map((firstSample) => ({
      firstSample,
      startSeconds: firstSample * 2,
      measuredRateHz: null,
    }));
    const signal = { samples: new Float64Array(1000), segments };
    expect([20, 50, 200, 230, 399, 1000].map((at) => clampStart(at, signal, 256))).toEqual([
      20, 44, 44, 400, 400, 744,
    ]);
    expect(clampStart(0, { ...signal, samples: new Float64Array(500) }, 400)).toBe(null);
    const shifts = [
      [0, 256],
      [44, 256],
      [44, 64],
      [400, -64],
      [744, 256],
      [0, -256],
    ] as const;
    expect(shifts.map(([at, by]) => shiftStart(at, by, signal, 256))).toEqual([
      400, 400, 400, 44, 744, 0,
    ]);
    expect(segmentWindowStarts(signal, 256)).toEqual([0, 400, 656]);
    expect(segmentWindowStarts(signal, 100, 200)).toEqual([0, 200, 300, 400, 600, 800]);
    expect([0, 299, 300, 450].map((at) => secondsOf(signal, at, 10))).toEqual([0, 29.9, 600, 805]);
  });

  it('have a mean probability for each class', () => {
    expect(
      meanProbabilities([
        { a: 1, b: 0 },
        { a: 0.5, b: 0.5 },
      ]),
    ).toEqual({ a: 0.75, b: 0.25 });
    expect(meanProbabilities([])).toEqual({});
  });
});

describe('findChannel', () => {
  it.each([
    [['Fp1', 'T3', 'T4'], 'T3', 1],
    [['EEG Fp1-Ref', 'EEG T3-Ref'], 'T3', 1],
    [['EEG F7-T3', 'EEG T3-T5'], 'T3', 1],
    [['t3'], 'T3', 0],
    [['Fp1', 'T7'], 'T3', 1],
    [['Fp1', 'T3'], 'T7', 1],
    [['T7', 'T3'], 'T3', 1],
    [['EEG FPZ-CZ'], 'Fpz-Cz', null],
    [['Fpz-Cz', 'Pz-Oz'], 'Fpz-Cz', 0],
    [['T30', 'ST3'], 'T3', null],
    [['T3'], null, null],
  ])('of %j for %s', (labels, wanted, index) => {
    expect(findChannel(channels(...(labels as string[])), wanted as string | null)).toBe(index);
  });
});

describe('generate', () => {
  const options = { seconds: 10, samplingRateHz: 95, rhythmHz: 10, seed: 3 };

  it('makes the length and rate that were asked for, the same each time', () => {
    const made = generate(options);
    expect(made.channels.map(({ label }) => label)).toContain('T3');
    expect(
      made.channels.every(
        ({ samples, samplingRateHz }) => samples.length === 950 && samplingRateHz === 95,
      ),
    ).toBe(true);
    expect(made).toEqual(generate(options));
    expect(made.channels[0]?.samples).not.toEqual(
      generate({ ...options, seed: 4 }).channels[0]?.samples,
    );
  });

  it('has its rhythm where it was asked for', () => {
    const { samples } = generate(options).channels[0] as Channel;
    const power = (hz: number) => {
      let [re, im] = [0, 0];
      samples.forEach((value, i) => {
        re += value * Math.cos((2 * Math.PI * hz * i) / 95);
        im += value * Math.sin((2 * Math.PI * hz * i) / 95);
      });
      return re * re + im * im;
    };
    expect(power(10)).toBeGreaterThan(10 * Math.max(power(5), power(20), power(30)));
  });
});
