import {
  MOST_INDEX,
  type Place,
  PlaceError,
  Timeline,
  timeOf,
} from '../../../src/streaming/timeline';
import { seededRandom } from '../../helpers/random';

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

  it('adds up whatever comes to numbers and times that can be told, or refuses it by name', () => {
    const random = seededRandom(7);
    const large = (): number => Math.floor(2 ** (random() * 54) - random());
    const placeOf = (type: Place['type']): Place => {
      if (type === 'index') return { type, index: large() };
      return { type, seconds: (random() < 0.5 ? -1 : 1) * large() * random() };
    };
    let refusals = 0;
    for (let round = 0; round < 3000; round++) {
      const type = (['index', 'seconds', 'date'] as const)[round % 3] as Place['type'];
      const rate = 0.1 * 2 ** (random() * 21);
      try {
        const timeline = new Timeline(placeOf(type), rate);
        for (let step = 0; step < 20; step++) {
          if (random() < 0.5) timeline.pass(large());
          else timeline.pass(timeline.missingBefore(placeOf(type)));
          const seconds = timeline.secondsOf(timeline.next);
          expect(timeline.next).toBeLessThanOrEqual(MOST_INDEX);
          expect(timeline.next + 1).not.toBe(timeline.next);
          const time = timeOf(type, seconds);
          if (type === 'date') expect(time).toMatch(/^\d{4}-.*Z$/);
          else expect(Number.isFinite(time)).toBe(true);
        }
      } catch (error) {
        if (!(error instanceof PlaceError)) throw error;
        refusals++;
      }
    }
    expect(refusals).toBeGreaterThan(1000);
  });
});
