/** Line `intercept + slope * x`. */
export interface Line {
  readonly intercept: number;
  readonly slope: number;
}

const ITERATIONS = 1000;

/**
 * Fits a line with the Huber loss, which limits the influence of outliers, by the alternating direction method of
 * multipliers (Boyd et al., 2011, https://stanford.edu/~boyd/papers/admm_distr_stats.html). pyxdf runs the same
 * iterations, so that the results agree.
 *
 * @param scale residuals above this value count as outliers
 * @returns null if all positions are equal or not finite
 */
export function fitRobustLine(xs: Float64Array, ys: Float64Array, scale: number): Line | null {
  const scaled = xs.map((x) => x / scale);
  const offset = scaled.reduce((least, x) => Math.min(least, x), Number.POSITIVE_INFINITY);
  const x = scaled.map((value) => value - offset);
  const y = ys.map((value) => value / scale);
  const solve = cholesky(x);
  if (solve === null) return null;
  let [sumY, sumXY] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    sumY += y[i] as number;
    sumXY += (x[i] as number) * (y[i] as number);
  }
  const z = new Float64Array(x.length);
  const u = new Float64Array(x.length);
  let solution: readonly [number, number] = [0, 0];
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    let [sum, sumX] = [sumY, sumXY];
    for (let i = 0; i < x.length; i++) {
      const difference = (z[i] as number) - (u[i] as number);
      sum += difference;
      sumX += (x[i] as number) * difference;
    }
    solution = solve(sum, sumX);
    for (let i = 0; i < x.length; i++) {
      const fitted = solution[0] + solution[1] * (x[i] as number);
      const d = fitted - (y[i] as number) + (u[i] as number);
      const shrunk = Math.max(0, 1 - 2 / Math.abs(d)) * d;
      z[i] = d === 0 ? 0 : (d + shrunk) / 2;
      u[i] = d - (z[i] as number);
    }
  }
  return { intercept: (solution[0] - solution[1] * offset) * scale, slope: solution[1] };
}

/** Solves the normal equations of a line for right sides; null if all positions are equal. */
function cholesky(x: Float64Array): ((sum: number, sumX: number) => [number, number]) | null {
  let [total, squares] = [0, 0];
  for (const value of x) {
    total += value;
    squares += value * value;
  }
  const first = Math.sqrt(x.length);
  const below = total / first;
  const last = Math.sqrt(squares - below * below);
  if (!(last > 0 && last < Infinity)) return null;
  return (sum, sumX) => {
    const top = sum / first;
    const slope = (sumX - below * top) / last / last;
    return [(top - below * slope) / first, slope];
  };
}

/** Fits a line by least squares. Centered sums avoid the cancellation of large times. */
export function fitLine(ys: Float64Array): Line {
  const center = (ys.length - 1) / 2;
  const first = ys[0] as number;
  let mean = 0;
  for (const y of ys) mean += (y - first) / ys.length;
  let [products, squares] = [0, 0];
  for (let i = 0; i < ys.length; i++) {
    products += (i - center) * ((ys[i] as number) - first - mean);
    squares += (i - center) ** 2;
  }
  const slope = squares === 0 ? 0 : products / squares;
  return { intercept: first + mean - slope * center, slope };
}
