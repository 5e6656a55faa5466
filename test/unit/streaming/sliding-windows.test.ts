import { windowStarts } from '../../../src/recordings/recording';
import { resample } from '../../../src/recordings/resample';
import { SlidingWindows, type Windowing } from '../../../src/streaming/sliding-windows';
import { normal, seededRandom } from '../../helpers/random';

interface Seen {
  readonly window: Float64Array;
  readonly raw: Float64Array;
  readonly position: number;
}

/** In blocks of random lengths. */
function stream(
  windowing: Windowing,
  samples: Float64Array,
  random: () => number,
  windows = new SlidingWindows(windowing),
) {
  const seen: Seen[] = [];
  const note = (): void => {
    while (windows.isComplete) {
      const { window, rawWindow, position } = windows;
      seen.push({ window: window.slice(), raw: rawWindow.slice(), position });
      windows.advance();
    }
  };
  for (let at = 0; at < samples.length; ) {
    const block = samples.subarray(at, at + 1 + Math.floor(random() ** 3 * 900));
    for (let taken = 0; taken < block.length; ) {
      taken += windows.take(block, taken);
      note();
    }
    at += block.length;
  }
  windows.end();
  note();
  return seen;
}

/** The same of the whole signal. */
function whole({ windowLength, samplingRate, modelRate, step }: Windowing, samples: Float64Array) {
  const rate = modelRate ?? samplingRate;
  const all = resample(samples, samplingRate, rate);
  const seen: Float64Array[] = [];
  for (let k = 0; ; k++) {
    const start = modelRate === null ? k * step : Math.round((k * step * rate) / samplingRate);
    if (start + windowLength > all.length) return seen;
    seen.push(all.slice(start, start + windowLength));
  }
}

/** To the last bit. Jest takes microseconds for each number. */
function areSame(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((value, index) => Object.is(value, b[index]));
}

function signal(length: number, random: () => number): Float64Array {
  return Float64Array.from({ length }, (_, i) => 30 * Math.sin(i / 9) + 10 * normal(random));
}

describe('SlidingWindows', () => {
  const rates: readonly (readonly [number, number | null])[] = [
    [95, null],
    [256, 95],
    [250, 95],
    [512, 95],
    [64, 95],
    [100.7, 95],
    [1000 / 3, 95],
    [5000, 95],
    [30.01, 128],
  ];
  it.each(rates)('of %d Hz for a model of %s Hz are those of the whole signal', (from, to) => {
    const random = seededRandom(from * 31);
    for (let trial = 0; trial < 4; trial++) {
      const windowLength = 1 + Math.floor(random() * 120);
      const perSample = to === null ? 1 : Math.max(1, from / to);
      const step = Math.ceil(perSample * (1 + random() ** 2 * 2 * windowLength));
      const windowing = { windowLength, samplingRate: from, modelRate: to, step };
      const samples = signal(Math.floor(random() * 1200 * perSample), random);
      const seen = stream(windowing, samples, random);
      const expected = whole(windowing, samples);
      expect(seen).toHaveLength(expected.length);
      for (const [index, { window, raw, position }] of seen.entries()) {
        const first = Math.floor(position);
        expect(areSame(window, expected[index] as Float64Array)).toBe(true);
        expect(areSame(raw, samples.subarray(first, first + raw.length))).toBe(true);
      }
    }
  });

  it('begin at each step, where nothing is resampled', () => {
    const random = seededRandom(5);
    const windowing = { windowLength: 10, samplingRate: 8, modelRate: null, step: 3 };
    const places = stream(windowing, signal(100, random), random).map(({ position }) => position);
    expect(places).toEqual(windowStarts(100, 10, 3));
  });

  it('begin anew after a gap', () => {
    const random = seededRandom(6);
    const windowing = { windowLength: 64, samplingRate: 256, modelRate: 95, step: 40 };
    const [a, b] = [signal(3000, random), signal(2222, random)];
    const windows = new SlidingWindows(windowing);
    const first = stream(windowing, a, random, windows);
    windows.restart();
    const second = stream(windowing, b, random, windows);
    expect(first.map(({ window }) => window)).toEqual(whole(windowing, a));
    expect(second.map(({ window }) => window)).toEqual(whole(windowing, b));
  });

  it('keep what they say of memory', () => {
    const windowing = { windowLength: 256, samplingRate: 95, modelRate: 95, step: 64 };
    expect(SlidingWindows.bytesOf(windowing)).toBe((256 + 128) * 8);
  });
});
