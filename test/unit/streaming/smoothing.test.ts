import { createSmoothing, type SmoothingKind } from '../../../src/streaming/window-results';
import { seededRandom } from '../../helpers/random';

const CLASSES = 3;

function probabilities(random: () => number): Float32Array {
  const values = Float32Array.from({ length: CLASSES }, () => random() + 0.01);
  const sum = values.reduce((all, value) => all + value, 0);
  return values.map((value) => value / sum);
}

function smoothed(kind: SmoothingKind, windows: readonly Float32Array[]): readonly Float32Array[] {
  const smoothing = createSmoothing(kind, CLASSES);
  return windows.map((window) => {
    const output = new Float32Array(CLASSES);
    smoothing.add(window, output);
    return output;
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}

describe('smoothing', () => {
  const random = seededRandom(3);
  const windows = Array.from({ length: 60 }, () => probabilities(random));

  it.each([3, 5, 21])('is the median of each class over %d windows, made to sum to 1', (span) => {
    smoothed({ median: span }, windows).forEach((output, index) => {
      const last = windows.slice(Math.max(0, index - span + 1), index + 1);
      const medians = Array.from({ length: CLASSES }, (_, i) =>
        median(last.map((window) => window[i] as number)),
      );
      const sum = medians.reduce((all, value) => all + value, 0);
      medians.forEach((value, i) => {
        expect(output[i]).toBeCloseTo(value / sum, 6);
      });
    });
  });

  it.each([0.05, 0.3, 1])('is exponential, with a weight of %d for the last window', (alpha) => {
    let state = Array.from(windows[0] as Float32Array);
    smoothed({ exponential: alpha }, windows).forEach((output, index) => {
      const window = windows[index] as Float32Array;
      if (index > 0)
        state = state.map((before, i) => alpha * (window[i] as number) + (1 - alpha) * before);
      state.forEach((value, i) => {
        expect(output[i]).toBeCloseTo(value, 6);
      });
      expect(output.reduce((all, value) => all + value, 0)).toBeCloseTo(1, 5);
    });
  });

  it.each<SmoothingKind>([{ median: 7 }, { exponential: 0.2 }])('restarts: %j', (kind) => {
    const first = createSmoothing(kind, CLASSES);
    const output = new Float32Array(CLASSES);
    for (const window of windows.slice(0, 25)) first.add(window, output);
    first.restart();
    first.add(windows[9] as Float32Array, output);
    expect(Array.from(output)).toEqual(
      Array.from(smoothed(kind, [windows[9] as Float32Array])[0] as Float32Array),
    );
  });
});
