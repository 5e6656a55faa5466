/** Added to the standard deviation, in the signal's own unit (numpy: `std + 1e-8`). */
const EPSILON = 1e-8;

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
 */
export function zNormalize(signal: readonly number[]): Float64Array {
  const values = new Float64Array(signal.length);
  let largest = 0;
  let isConstant = true;
  for (let i = 0; i < values.length; i++) {
    const value = signal[i] as number;
    values[i] = value;
    largest = Math.max(largest, Math.abs(value));
    isConstant &&= value === signal[0];
  }
  if (isConstant) return values.fill(0);

  const scale = powerOfTwoScale(largest);
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) * scale;
  // Twice: the second pass takes away the rounding error of the first one's mean.
  subtract(values, mean(values));
  subtract(values, mean(values));
  const divisor = Math.sqrt(meanOfSquares(values)) + EPSILON * scale;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / divisor;
  return values;
}

/**
 * The power of two that brings the largest magnitude near 1. Limited to 2^1000 so that it and
 * `EPSILON` times it stay finite; even the smallest subnormal, 2^-1074, then has a square that is
 * a normal double.
 */
function powerOfTwoScale(largest: number): number {
  return 2 ** -Math.max(-1000, Math.ceil(Math.log2(largest)));
}

function subtract(values: Float64Array, amount: number): void {
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) - amount;
}

function mean(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}

function meanOfSquares(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    sum += value * value;
  }
  return sum / values.length;
}
