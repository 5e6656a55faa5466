import { roundToFourDecimals } from '../../../../src/lib/numbers';
import { zNormalize } from '../../../../src/tasks/signal-classification/z-normalize';
import { exactRound, exactZNormalize } from '../../../helpers/exact';
import { bytesOfDoubles, doublesOf, type Target } from '../target';

/** Of a window; exact arithmetic takes its time. */
const MOST_VALUES = 24;

const DOUBLES = [0, -0, 1, 5e-324, 2.2250738585072014e-308, 1e-8, 1e308, Number.MAX_VALUE, 2 ** 53];
const dictionary = DOUBLES.map((value) => Buffer.from(bytesOfDoubles([value])).toString('latin1'));

/** Against exact arithmetic. */
export const normalization: Target = {
  seeds: [[1, 2, 3], [1e300, -1e300], [1e12, 1e12 + 1, 1e12 - 3], DOUBLES].map(bytesOfDoubles),
  dictionary,
  run: (input) => {
    const signal = doublesOf(input).slice(0, MOST_VALUES);
    if (signal.length === 0) return;
    const expected = exactZNormalize(signal);
    const actual = zNormalize(signal);
    for (const [index, value] of expected.entries()) {
      const error = Math.abs((actual[index] as number) - value);
      if (!(error <= 1e-12 * Math.max(1, Math.abs(value)))) {
        throw new Error(`[${signal}][${index}]: ${actual[index]}, exactly ${value}`);
      }
    }
  },
};

/** Against exact arithmetic. */
export const rounding: Target = {
  seeds: [[0.03125], [0.5, 1 / 3], [Math.fround(0.99995)]].map(bytesOfDoubles),
  dictionary,
  run: (input) => {
    for (const value of doublesOf(input).slice(0, 8)) {
      // Probabilities, and outputs of a regression. toFixed has no decimals beyond that.
      if (Math.abs(value) >= 1e21) continue;
      const [actual, expected] = [roundToFourDecimals(value), exactRound(value)];
      if (actual !== expected) throw new Error(`${value}: ${actual}, exactly ${expected}`);
    }
  },
};
