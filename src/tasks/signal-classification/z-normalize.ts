/** Added to the standard deviation, in the signal's own unit (numpy: `std + 1e-8`). */
const EPSILON = 1e-8;

/** Of one signal at a time: a window for each request would be an allocation outside of V8's heap. */
let scratch = new Float64Array(0);

/**
 * (v − mean) / (std + 1e-8) with the population standard deviation, in float64.
 * A constant signal becomes zeros.
 *
 * The signal is first scaled by a power of two, which is exact, to magnitudes of about 1: neither
 * the sum of values near 1.8e308 nor the squares of values near 5e-324 leave the range of a double.
 * The mean is corrected by the mean of its residuals (corrected two-pass algorithm; Chan, Golub
 * and LeVeque, "Algorithms for Computing the Sample Variance", 1983), so that small variations
 * on a large offset keep all their digits.
 *
 * @param signal at least one value, all finite
 * @param result as many, rounded to what it holds; left out: a new array of doubles
 */
export function zNormalize(signal: readonly number[]): Float64Array;
export function zNormalize<Numbers extends Float32Array | Float64Array>(
  signal: readonly number[],
  result: Numbers,
): Numbers;
export function zNormalize(
  signal: readonly number[],
  result: Float32Array | Float64Array = new Float64Array(signal.length),
): Float32Array | Float64Array {
  const { length } = signal;
  if (scratch.length !== length) scratch = new Float64Array(length);
  const values = scratch;
  const first = signal[0] as number;
  let largest = 0;
  let isConstant = true;
  for (let i = 0; i < length; i++) {
    const value = signal[i] as number;
    values[i] = value;
    largest = Math.max(largest, Math.abs(value));
    isConstant &&= value === first;
  }
  if (isConstant) return result.fill(0);

  const scale = powerOfTwoScale(largest);
  const sum = multiply(values, scale);
  // Twice: the second pass takes away the rounding error of the first one's mean.
  const residuals = subtract(values, sum / length);
  subtract(values, residuals / length);
  const divisor = Math.sqrt(sumOfSquares(values) / length) + EPSILON * scale;
  for (let i = 0; i < length; i++) result[i] = (values[i] as number) / divisor;
  return result;
}

/**
 * The power of two that brings the largest magnitude near 1. Limited to 2^1000 so that it and
 * `EPSILON` times it stay finite; even the smallest subnormal, 2^-1074, then has a square that is
 * a normal double.
 */
function powerOfTwoScale(largest: number): number {
  return 2 ** -Math.max(-1000, Math.ceil(Math.log2(largest)));
}

/** @returns the sum of the products */
function multiply(values: Float64Array, factor: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = (values[i] as number) * factor;
    values[i] = value;
    sum += value;
  }
  return sum;
}

/** @returns the sum of the differences */
function subtract(values: Float64Array, amount: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = (values[i] as number) - amount;
    values[i] = value;
    sum += value;
  }
  return sum;
}

function sumOfSquares(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    sum += value * value;
  }
  return sum;
}
