import {
  MAX_ROWS,
  PREDICTED,
  ResultRing,
  ResultSerializer,
} from '../../../src/streaming/result-ring';

const LABELS = ['a "b"', 'ü', 'c'];

function filled(count: number, first = 0): ResultRing {
  const ring = new ResultRing(first, LABELS.length, true);
  for (let i = 0; i < count; i++) {
    const window = ring.end;
    ring.add(window * 64, window / 4);
    ring.setQuality(window, 0, 12.5, Number.NaN);
    ring.probabilitiesOf(window).set([window, 0, 1]);
    ring.setState(window, PREDICTED);
  }
  return ring;
}

describe('ResultRing', () => {
  it.each([1, 16, 17, 100, MAX_ROWS, 1000])('keeps the last of %d rows', (count) => {
    const ring = filled(count, 7);
    expect(ring.end).toBe(7 + count);
    expect(ring.first).toBe(7 + Math.max(0, count - MAX_ROWS));
    for (let window = ring.first; window < ring.end; window++) {
      expect(ring.rowOf(window)).toMatchObject({ firstSample: window * 64, seconds: window / 4 });
      expect(Array.from(ring.probabilitiesOf(window))).toEqual([window, 0, 1]);
    }
  });

  it('keeps few rows when results are acknowledged', () => {
    const ring = filled(10);
    for (let i = 0; i < 500; i++) {
      ring.removeBefore(ring.end - 4);
      ring.add(0, 0);
    }
    expect(ring.capacity).toBe(16);
  });
});

describe('ResultSerializer', () => {
  it('writes JSON with any labels', () => {
    const ring = filled(1);
    ring.probabilitiesOf(0).set([0.25, 0.6171875, 0.125]);
    ring.smoothedOf(0)?.set([0.5, 0.25, 0.25]);
    ring.setSkipped(0, 3);
    expect(JSON.parse(new ResultSerializer(LABELS, 'index').serialize(ring, 0, undefined))).toEqual(
      {
        window: 0,
        first_sample: 0,
        time: 0,
        diagnosis: 'ü',
        confidence: 0.6172,
        probabilities: { 'a "b"': 0.25, ü: 0.6172, c: 0.125 },
        quality: { problems: [], peak_to_peak: 12.5, mains_share: null },
        skipped: 3,
        smoothed: {
          diagnosis: 'a "b"',
          confidence: 0.5,
          probabilities: { 'a "b"': 0.5, ü: 0.25, c: 0.25 },
        },
      },
    );
  });

  it('formats times as the start', () => {
    expect(new ResultSerializer(LABELS, 'seconds').formatTime(1.23456789)).toBe('1.234568');
    expect(new ResultSerializer(LABELS, 'date').formatTime(1769860800.0304)).toBe(
      '"2026-01-31T12:00:00.030Z"',
    );
  });
});
