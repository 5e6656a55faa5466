/** Constant added to the standard deviation, in the signal's unit (numpy: `std + 1e-8`). */
const EPSILON = 1e-8;

/** Buffer shared by all calls: an array per request would be allocated outside of V8's heap. */
let scratch = new Float64Array(0);

/**
 * Computes (v − mean) / (std + 1e-8) with the population standard deviation, in float64. A constant
 * signal becomes zeros.
 *
 * The signal is first scaled by a power of two, which is exact, to magnitudes of about 1: the sum
 * of values near 1.8e308 and the squares of values near 5e-324 stay in the range of a double. The
 * mean is corrected by the mean of its residuals (corrected two-pass algorithm; Chan, Golub and
 * LeVeque, "Algorithms for Computing the Sample Variance", 1983), which keeps all digits of small
 * variations on a large offset.
 *
 * @param signal at least one value, all values finite
 * @param result output array of the same length; values are rounded to its type. Default: a new
 *   Float64Array
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
  // The second pass subtracts the rounding error of the first mean.
  const residuals = subtract(values, sum / length);
  subtract(values, residuals / length);
  const divisor = Math.sqrt(sumOfSquares(values) / length) + EPSILON * scale;
  for (let i = 0; i < length; i++) result[i] = (values[i] as number) / divisor;
  return result;
}

/**
 * Returns the power of two that scales the largest magnitude to about 1. The limit of 2^1000 keeps
 * the factor and `EPSILON` times the factor finite; the square of the scaled smallest subnormal,
 * 2^-1074, is still a normal double.
 */
function powerOfTwoScale(largest: number): number {
  return 2 ** -Math.max(-1000, Math.ceil(Math.log2(largest)));
}

/**
 * Multiplies all values in place.
 *
 * @returns sum of the products
 */
function multiply(values: Float64Array, factor: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = (values[i] as number) * factor;
    values[i] = value;
    sum += value;
  }
  return sum;
}

/**
 * Subtracts from all values in place.
 *
 * @returns sum of the differences
 */
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
