import { dot } from '../../tasks/embedding/postprocess';

export interface Projection {
  /** Of each vector, in its order; their mean is the origin. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Part of the variance of the vectors that the plane has, 0 to 1; of vectors that are all the same 1. */
  readonly kept: number;
}

/**
 * Vectors on the plane in which they differ most: principal component analysis, by the matrix of the products
 * of the centred vectors. The same vectors give the same plane; of each axis the point that is farthest out
 * has a positive coordinate.
 *
 * @param vectors of one length; time and memory grow with the cube and the square of their number
 */
export function project(vectors: readonly Float32Array[]): Projection {
  const products = vectors.map((a) => vectors.map((b) => dot(a, b)));
  const centred = centre(products);
  const total = centred.reduce((sum, row, i) => sum + (row[i] as number), 0);
  // What is left of vectors that are the same, after rounding.
  const scale = products.reduce((sum, row, i) => sum + (row[i] as number), 0);
  if (!(total > 1e-12 * scale)) return { points: vectors.map(() => [0, 0]), kept: 1 };
  const axes = eigen(centred)
    .sort((a, b) => b.value - a.value)
    .slice(0, 2)
    .map(({ value, vector }) => ({ value: Math.max(0, value), vector: signed(vector) }));
  const coordinate = (axis: number, i: number): number =>
    Math.sqrt(axes[axis]?.value ?? 0) * (axes[axis]?.vector[i] ?? 0);
  return {
    points: vectors.map((_, i) => [coordinate(0, i), coordinate(1, i)]),
    kept: Math.min(1, axes.reduce((sum, { value }) => sum + value, 0) / total),
  };
}

/** Products of vectors to those of the same vectors less their mean. */
function centre(products: readonly (readonly number[])[]): number[][] {
  const { length } = products;
  const means = products.map((row) => row.reduce((sum, value) => sum + value, 0) / length);
  const mean = means.reduce((sum, value) => sum + value, 0) / length;
  return products.map((row, i) =>
    row.map((value, j) => value - (means[i] as number) - (means[j] as number) + mean),
  );
}

interface Eigen {
  readonly value: number;
  /** Of length 1. */
  readonly vector: readonly number[];
}

/** Rounds of rotations; ten are enough for some hundred rows. */
const MOST_SWEEPS = 50;

/** Of a symmetric matrix, by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, 8.5). */
function eigen(symmetric: readonly (readonly number[])[]): Eigen[] {
  const a = symmetric.map((row) => [...row]);
  const n = a.length;
  const v = a.map((_, i) => a.map((_, j) => (i === j ? 1 : 0)));
  const size = Math.hypot(...a.flat());
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
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

/** Turns rows and columns `p` and `q` so that their element is 0, and the vectors with them. */
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

/** The same axis: of its numbers the largest one is positive, the first of those that are as large. */
function signed(vector: readonly number[]): readonly number[] {
  const largest = vector.reduce((a, b) => (Math.abs(b) > Math.abs(a) * (1 + 1e-9) ? b : a), 0);
  return largest < 0 ? vector.map((value) => -value) : vector;
}
