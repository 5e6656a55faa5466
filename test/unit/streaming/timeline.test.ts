import {
  formatTime,
  MAX_SAMPLE_INDEX,
  PositionError,
  type SamplePosition,
  Timeline,
} from '../../../src/streaming/timeline';
import { seededRandom } from '../../helpers/random';

const RATE = 250;

describe('Timeline', () => {
  it('counts samples, and sees those that are missing', () => {
    const timeline = new Timeline({ type: 'index', index: 100 }, RATE);
    timeline.advance(50);
    expect(timeline.missingBefore({ type: 'index', index: 150 })).toBe(0);
    expect(timeline.missingBefore({ type: 'index', index: 163 })).toBe(13);
    expect(timeline.secondsAt(150)).toBeCloseTo(0.6, 12);
    expect(() => timeline.missingBefore({ type: 'index', index: 149 })).toThrow(
      'goes back by 1 samples, which were already received',
    );
  });

  it.each(['seconds', 'date'] as const)('follows a clock in %s that runs otherwise', (type) => {
    const timeline = new Timeline({ type, seconds: 1000 }, RATE);
    // 200 parts in a million too fast, for an hour: 0.72 s, of which no second is a gap.
    for (let second = 1; second <= 3600; second++) {
      timeline.advance(RATE);
      const seconds = 1000 + second * (1 - 200e-6) + (second % 3) * 0.004;
      expect(timeline.missingBefore({ type, seconds })).toBe(0);
      expect(timeline.secondsAt(timeline.next)).toBeCloseTo(seconds, 9);
    }
  });

  it('sees a gap in time, to the sample', () => {
    const timeline = new Timeline({ type: 'seconds', seconds: 5 }, RATE);
    timeline.advance(500);
    expect(timeline.missingBefore({ type: 'seconds', seconds: 7 + 40 / RATE })).toBe(40);
    expect(timeline.secondsAt(540)).toBeCloseTo(7.16, 12);
  });

  it('takes no place of another kind, and none in the past', () => {
    const timeline = new Timeline({ type: 'seconds', seconds: 5 }, RATE);
    timeline.advance(500);
    expect(() => timeline.missingBefore({ type: 'index', index: 500 })).toThrow(PositionError);
    expect(() => timeline.missingBefore({ type: 'seconds', seconds: 6.5 })).toThrow(
      'goes back by 125 samples',
    );
  });

  it('adds up whatever comes to numbers and times that can be told, or refuses it by name', () => {
    const random = seededRandom(7);
    const large = (): number => Math.floor(2 ** (random() * 54) - random());
    const placeOf = (type: SamplePosition['type']): SamplePosition => {
      if (type === 'index') return { type, index: large() };
      return { type, seconds: (random() < 0.5 ? -1 : 1) * large() * random() };
    };
    let refusals = 0;
    for (let round = 0; round < 3000; round++) {
      const type = (['index', 'seconds', 'date'] as const)[round % 3] as SamplePosition['type'];
      const rate = 0.1 * 2 ** (random() * 21);
      try {
        const timeline = new Timeline(placeOf(type), rate);
        for (let step = 0; step < 20; step++) {
          if (random() < 0.5) timeline.advance(large());
          else timeline.advance(timeline.missingBefore(placeOf(type)));
          const seconds = timeline.secondsAt(timeline.next);
          expect(timeline.next).toBeLessThanOrEqual(MAX_SAMPLE_INDEX);
          expect(timeline.next + 1).not.toBe(timeline.next);
          const time = formatTime(type, seconds);
          if (type === 'date') expect(time).toMatch(/^\d{4}-.*Z$/);
          else expect(Number.isFinite(time)).toBe(true);
        }
      } catch (error) {
        if (!(error instanceof PositionError)) throw error;
        refusals++;
      }
    }
    expect(refusals).toBeGreaterThan(1000);
  });
});
