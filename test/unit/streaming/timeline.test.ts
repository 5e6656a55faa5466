import { PlaceError, Timeline } from '../../../src/streaming/timeline';

const RATE = 250;

describe('Timeline', () => {
  it('counts samples, and sees those that are missing', () => {
    const timeline = new Timeline({ type: 'index', index: 100 }, RATE);
    timeline.pass(50);
    expect(timeline.missingBefore({ type: 'index', index: 150 })).toBe(0);
    expect(timeline.missingBefore({ type: 'index', index: 163 })).toBe(13);
    expect(timeline.secondsOf(150)).toBeCloseTo(0.6, 12);
    expect(() => timeline.missingBefore({ type: 'index', index: 149 })).toThrow(
      'goes back by 1 samples: those have come already',
    );
  });

  it.each(['seconds', 'date'] as const)('follows a clock in %s that runs otherwise', (type) => {
    const timeline = new Timeline({ type, seconds: 1000 }, RATE);
    // 200 parts in a million too fast, for an hour: 0.72 s, of which no second is a gap.
    for (let second = 1; second <= 3600; second++) {
      timeline.pass(RATE);
      const seconds = 1000 + second * (1 - 200e-6) + (second % 3) * 0.004;
      expect(timeline.missingBefore({ type, seconds })).toBe(0);
      expect(timeline.secondsOf(timeline.next)).toBeCloseTo(seconds, 9);
    }
  });

  it('sees a gap in time, to the sample', () => {
    const timeline = new Timeline({ type: 'seconds', seconds: 5 }, RATE);
    timeline.pass(500);
    expect(timeline.missingBefore({ type: 'seconds', seconds: 7 + 40 / RATE })).toBe(40);
    expect(timeline.secondsOf(540)).toBeCloseTo(7.16, 12);
  });

  it('takes no place of another kind, and none in the past', () => {
    const timeline = new Timeline({ type: 'seconds', seconds: 5 }, RATE);
    timeline.pass(500);
    expect(() => timeline.missingBefore({ type: 'index', index: 500 })).toThrow(PlaceError);
    expect(() => timeline.missingBefore({ type: 'seconds', seconds: 6.5 })).toThrow(
      'goes back by 125 samples',
    );
  });
});
