import { Envelope } from '../../../src/pages/eeg/channels/envelope';
import { filterChannel } from '../../../src/pages/eeg/channels/filter-channel';
import {
  drawTrace,
  type Raster,
  type Trace,
  TraceColumns,
} from '../../../src/pages/eeg/channels/trace-raster';
import {
  clampView,
  laneHeight,
  nextScale,
  revealTime,
  scaleFor,
  timeMarks,
  zoomView,
} from '../../../src/pages/eeg/channels/view';
import { CONTINUOUS, type Segment } from '../../../src/recordings/recording';
import { seededRandom } from '../../helpers/random';

function noise(length: number): Float64Array {
  const random = seededRandom(3);
  return Float64Array.from({ length }, () => random() - 0.5);
}

describe('Envelope', () => {
  it('measures any range as a scan of its samples does', () => {
    const samples = noise(20_001);
    samples[4000] = Number.NaN;
    const envelope = new Envelope(samples);
    const random = seededRandom(5);
    for (let i = 0; i < 200; i++) {
      const from = Math.floor(random() * samples.length);
      const to = from + 1 + Math.floor(random() ** 3 * (samples.length - from));
      const part = samples.subarray(from, to).filter((value) => !Number.isNaN(value));
      if (!envelope.measure(from, to)) {
        expect(part).toHaveLength(0);
        continue;
      }
      expect(envelope.low).toBeCloseTo(
        part.reduce((a, b) => Math.min(a, b)),
        6,
      );
      expect(envelope.high).toBeCloseTo(
        part.reduce((a, b) => Math.max(a, b)),
        6,
      );
    }
  });

  it('finds a single peak at the ends of the levels', () => {
    for (const at of [0, 15, 16, 255, 256, 4095, 4096, 69_999]) {
      const samples = new Float64Array(70_000);
      samples[at] = 9;
      const envelope = new Envelope(samples);
      envelope.measure(0, samples.length);
      expect([at, envelope.low, envelope.high]).toEqual([at, 0, 9]);
    }
  });

  it('has no range for missing samples and empty ranges', () => {
    const envelope = new Envelope(new Float64Array(1000).fill(Number.NaN));
    expect([envelope.measure(0, 1000), envelope.measure(5, 5)]).toEqual([false, false]);
  });
});

describe('drawTrace', () => {
  const [WIDTH, HEIGHT] = [20, 11];

  /** Opacity of each pixel, from 0 to 9. */
  function draw(
    samples: Float64Array,
    {
      segments = CONTINUOUS,
      perColumn = 1,
      firstColumn = 0,
      until = Number.POSITIVE_INFINITY,
      thickness = 1,
      views = [] as readonly number[],
    } = {},
  ): readonly string[] {
    const pixels = new Uint32Array(WIDTH * HEIGHT);
    const raster: Raster = {
      pixels,
      width: WIDTH,
      height: HEIGHT,
      firstColumn,
      secondsPerColumn: perColumn,
    };
    const trace: Trace = {
      envelope: new Envelope(samples),
      segments,
      rate: 1,
      baseline: 0,
      factor: 1,
    };
    const columns = new TraceColumns(trace);
    // Columns of other views before must not matter.
    for (const before of views) columns.show(before, WIDTH, perColumn);
    drawTrace(raster, columns, { middle: 5.5, rowsPerUnit: 1, thickness, color: 0x102030, until });
    return Array.from({ length: HEIGHT }, (_, row) =>
      [...pixels.subarray(row * WIDTH, (row + 1) * WIDTH)]
        .map((pixel) => (pixel === 0 ? '.' : Math.floor(((pixel >>> 24) / 256) * 10)))
        .join(''),
    );
  }

  it('draws a flat line on its middle row, and its color', () => {
    const rows = draw(new Float64Array(21));
    expect(rows[5]).toBe('9'.repeat(20));
    expect(rows.filter((row) => row.includes('9'))).toHaveLength(1);
  });

  it('covers the range between samples without a gap', () => {
    const rows = draw(Float64Array.from({ length: 21 }, (_, i) => (i % 2 === 0 ? -4 : 4)));
    for (const row of rows.slice(1, 10)) expect(row).toBe('9'.repeat(20));
    expect(rows[0]).toBe('.'.repeat(20));
  });

  it('draws the minimum and maximum of many samples per column', () => {
    const samples = new Float64Array(2000);
    samples[1050] = 3;
    const rows = draw(samples, { perColumn: 100 });
    expect(rows[2]).toBe(`${'.'.repeat(10)}9${'.'.repeat(9)}`);
    expect(rows[5]).toBe('9'.repeat(20));
  });

  it('interpolates between the samples of a zoomed view', () => {
    const rows = draw(Float64Array.of(0, 4), { perColumn: 0.1 });
    expect([rows[5]?.[0], rows[2]?.[9], rows[1]?.[9]]).toEqual(['9', '3', '9']);
    expect(rows[5]?.[9]).toBe('.');
  });

  it('leaves gaps and missing samples free, and ends at a time', () => {
    const segments: readonly Segment[] = [
      { firstSample: 0, startSeconds: 0, measuredRateHz: null },
      { firstSample: 5, startSeconds: 10, measuredRateHz: null },
    ];
    const row = draw(new Float64Array(10), { segments })[5] as string;
    expect(row.slice(5, 10)).toBe('.....');
    expect([row.slice(0, 4), row.slice(10, 14)]).toEqual(['9999', '9999']);
    const missing = new Float64Array(21);
    missing.fill(Number.NaN, 6, 12);
    expect((draw(missing)[5] as string).slice(6, 11)).toBe('.....');
    const ended = draw(new Float64Array(21), { until: 7 })[5] as string;
    expect([ended.slice(0, 7), ended.slice(8)]).toEqual(['9999999', '............']);
  });

  it('keeps the samples of a column while the view moves', () => {
    const samples = noise(400).map((value) => value * 8);
    const first = draw(samples, { perColumn: 7 });
    const moved = draw(samples, { perColumn: 7, firstColumn: 3 });
    for (const views of [[0], [5], [0, 2], [4, 3], [40], [-3]]) {
      expect(draw(samples, { perColumn: 7, firstColumn: 3, views })).toEqual(moved);
    }
    expect(moved.map((row) => row.slice(0, 17))).toEqual(first.map((row) => row.slice(3)));
  });

  it('draws the covered share of a row', () => {
    const rows = draw(new Float64Array(21), { thickness: 2 });
    expect([rows[4]?.[3], rows[5]?.[3], rows[6]?.[3]]).toEqual(['5', '9', '5']);
  });
});

describe('the view', () => {
  const all = { from: 0, to: 100 };

  it('stays in the recording', () => {
    expect(clampView({ from: 95, seconds: 10 }, all)).toEqual({ from: 90, seconds: 10 });
    expect(clampView({ from: -5, seconds: 1000 }, all)).toEqual({ from: 0, seconds: 100 });
  });

  it('zooms around a visible time', () => {
    expect(zoomView({ from: 20, seconds: 20 }, 0.5, 25, all)).toEqual({ from: 22.5, seconds: 10 });
    expect(zoomView({ from: 20, seconds: 20 }, 0.5, 90, all)).toEqual({ from: 25, seconds: 10 });
    expect(zoomView({ from: 0, seconds: 0.06 }, 0.01, 0, all).seconds).toBe(0.05);
  });

  it('moves as little as possible to a time', () => {
    const view = { from: 20, seconds: 10 };
    expect([25, 35, 5].map((time) => revealTime(view, time, all).from)).toEqual([20, 25, 5]);
  });

  it('scales in steps of 1, 2 and 5', () => {
    expect([1, 2, 5, 0.2].map((scale) => nextScale(scale, 1))).toEqual([2, 5, 10, 0.5]);
    expect([1, 2, 5, 0.1].map((scale) => nextScale(scale, -1))).toEqual([0.5, 1, 2, 0.05]);
    expect([47, 50, 51, 0.3, 0, Number.NaN].map(scaleFor)).toEqual([50, 50, 100, 0.5, 1, 1]);
  });

  it('has lanes that fit, and readable marks', () => {
    expect([1, 8, 16, 64].map(laneHeight)).toEqual([64, 60, 30, 12]);
    expect(timeMarks({ from: 9.5, seconds: 10 }, 1000, 80)).toEqual([
      10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    ]);
    expect(timeMarks({ from: 0, seconds: 600 }, 400, 80)).toEqual([0, 120, 240, 360, 480, 600]);
  });
});

describe('filterChannel', () => {
  const steps = [
    {
      type: 'filter',
      high_pass_hz: 1,
      low_pass_hz: null,
      order: 4,
      phase: 'zero',
      initial: 'steady',
    },
  ] as const;

  it('filters the parts between gaps on their own and keeps missing samples', () => {
    const samples = Float64Array.from({ length: 2000 }, (_, i) => (i < 1000 ? 500 : -300));
    samples[1500] = Number.NaN;
    const result = filterChannel({ samples, firstSamples: [0, 1000], rate: 100, steps });
    expect(Number.isNaN(result[1500])).toBe(true);
    const others = result.filter((value) => !Number.isNaN(value));
    expect(others).toHaveLength(1999);
    expect(Math.max(...others.map(Math.abs))).toBeLessThan(1e-3);
    expect(samples[0]).toBe(500);
  });

  it('rejects a part that is too short', () => {
    const input = { samples: new Float64Array(5), firstSamples: [0], rate: 100, steps };
    expect(() => filterChannel(input)).toThrow(/zero-phase filter needs more than/);
  });
});
