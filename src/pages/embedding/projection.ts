import { dot } from '../../lib/numbers';

export interface Projection {
  /** Coordinates of each vector, in input order. The mean is the origin. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Explained variance, 0 to 1; 1 if all vectors are equal. */
  readonly kept: number;
}

/**
 * Projects vectors onto their first two principal components, computed from the Gram matrix of the centered
 * vectors. The result is deterministic: the coordinate with the largest absolute value on each axis is positive.
 *
 * @param vectors n vectors of equal length; time grows with n³, memory with n²
 */
export function project(vectors: readonly Float32Array[]): Projection {
  const products = vectors.map((a) => vectors.map((b) => dot(a, b)));
  const centered = center(products);
  const total = centered.reduce((sum, row, i) => sum + (row[i] as number), 0);
  // For equal vectors, only rounding errors remain.
  const scale = products.reduce((sum, row, i) => sum + (row[i] as number), 0);
  if (!(total > 1e-12 * scale)) return { points: vectors.map(() => [0, 0]), kept: 1 };
  const axes = eigendecompose(centered)
    .sort((a, b) => b.value - a.value)
    .slice(0, 2)
    .map(({ value, vector }) => ({ value: Math.max(0, value), vector: fixSign(vector) }));
  const coordinate = (axis: number, i: number): number =>
    Math.sqrt(axes[axis]?.value ?? 0) * (axes[axis]?.vector[i] ?? 0);
  return {
    points: vectors.map((_, i) => [coordinate(0, i), coordinate(1, i)]),
    kept: Math.min(1, axes.reduce((sum, { value }) => sum + value, 0) / total),
  };
}

/** Turns the Gram matrix of vectors into the Gram matrix of the centered vectors. */
function center(products: readonly (readonly number[])[]): number[][] {
  const { length } = products;
  const means = products.map((row) => row.reduce((sum, value) => sum + value, 0) / length);
  const mean = means.reduce((sum, value) => sum + value, 0) / length;
  return products.map((row, i) =>
    row.map((value, j) => value - (means[i] as number) - (means[j] as number) + mean),
  );
}

interface Eigenpair {
  readonly value: number;
  /** Unit vector. */
  readonly vector: readonly number[];
}

/** Maximum number of sweeps; about ten suffice for a few hundred rows. */
const MAX_SWEEPS = 50;

/** Eigendecomposition of a symmetric matrix by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5). */
function eigendecompose(symmetric: readonly (readonly number[])[]): Eigenpair[] {
  const a = symmetric.map((row) => [...row]);
  const n = a.length;
  const v = a.map((_, i) => a.map((_, j) => (i === j ? 1 : 0)));
  const size = Math.hypot(...a.flat());
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    let rest = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        rest = Math.max(rest, Math.abs(at(a, p, q)));
        rotate(a, v, p, q);
      }
    }
    if (rest <= 1e-14 * size) break;
  }
  return a.map((row, i) => ({
    value: row[i] as number,
    vector: v.map((line) => line[i] as number),
  }));
}

/** Rotates rows and columns `p` and `q` of `a` so that a[p][q] becomes 0, and accumulates the rotation in `v`. */
function rotate(a: number[][], v: number[][], p: number, q: number): void {
  const apq = at(a, p, q);
  if (apq === 0) return;
  const tau = (at(a, q, q) - at(a, p, p)) / (2 * apq);
  const t = Math.sign(tau || 1) / (Math.abs(tau) + Math.hypot(1, tau));
  const c = 1 / Math.hypot(1, t);
  const s = t * c;
  const turn = (row: number[]): void => {
    const [x, y] = [row[p] as number, row[q] as number];
    row[p] = c * x - s * y;
    row[q] = s * x + c * y;
  };
  for (const row of [...a, ...v]) turn(row);
  const [rowP, rowQ] = [a[p] as number[], a[q] as number[]];
  for (let k = 0; k < rowP.length; k++) {
    const [x, y] = [rowP[k] as number, rowQ[k] as number];
    rowP[k] = c * x - s * y;
    rowQ[k] = s * x + c * y;
  }
}

function at(matrix: readonly (readonly number[])[], row: number, column: number): number {
  return matrix[row]?.[column] as number;
}

/** Fixes the sign of an axis: the element with the largest absolute value is positive. */
function fixSign(vector: readonly number[]): readonly number[] {
  const largest = vector.reduce((a, b) => (Math.abs(b) > Math.abs(a) * (1 + 1e-9) ? b : a), 0);
  return largest < 0 ? vector.map((value) => -value) : vector;
}
