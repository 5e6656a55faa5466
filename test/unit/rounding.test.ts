import { roundToFourDecimals } from '../../src/lib/numbers';
import { exactRound } from '../helpers/exact';
import { seededRandom } from '../helpers/random';

describe('roundToFourDecimals', () => {
  // What Python 3.11 prints for round(x, 4).
  it.each([
    [0.03125, 0.0312],
    [0.09375, 0.0938],
    [0.15625, 0.1562],
    [0.96875, 0.9688],
    [-0.03125, -0.0312],
    [-0.09375, -0.0938],
    [0.00005, 0.0001],
    [0.00015, 0.0001],
    [0.00025, 0.0003],
    [0.99995, 1],
    [0.99994999, 0.9999],
    [1, 1],
    [0, 0],
    [1234567.03125, 1234567.0312],
    [2.5, 2.5],
    [1e22, 1e22],
    [5e-324, 0],
  ])('rounds %p to %p', (value, expected) => {
    expect(roundToFourDecimals(value)).toBe(expected);
  });

  it('takes every tie below 64 to even, on both sides of zero', () => {
    for (let odd = 1; odd < 64 * 32; odd += 2) {
      for (const tie of [odd / 32, -odd / 32]) {
        expect(roundToFourDecimals(tie)).toBe(exactRound(tie));
      }
    }
  });

  it('agrees with exact arithmetic on random doubles of every magnitude', () => {
    const random = seededRandom(1);
    for (let i = 0; i < 5_000; i++) {
      const value = (random() - 0.5) * 2 ** Math.floor(random() * 120 - 60);
      expect(roundToFourDecimals(value)).toBe(exactRound(value));
    }
  });

  it('agrees with exact arithmetic on widened float32 probabilities', () => {
    const random = seededRandom(2);
    for (let i = 0; i < 5_000; i++) {
      const value = Math.fround(random());
      expect(roundToFourDecimals(value)).toBe(exactRound(value));
    }
  });
});
