/** Position of an electrode in any unit, relative to the center of the head. */
export type Position = readonly [x: number, y: number, z: number];

/** Stiffness and number of Legendre terms of the spline (Perrin et al., 1989), and regularization, as in MNE. */
const STIFFNESS = 4;
const TERMS = 50;
const REGULARIZATION = 1e-5;

/**
 * Weights that compute the signals of electrodes from the signals of others by spherical splines, like
 * `Raw.interpolate_bads` of MNE.
 *
 * @param from at least one position
 * @returns [to, from]
 */
export function splineWeights(
  from: readonly Position[],
  to: readonly Position[],
): readonly Float64Array[] {
  const sources = from.map(normalize);
  const targets = to.map(normalize);
  const count = sources.length;
  // The last row and column force the weights to a sum of 0 around a constant.
  const system = [...sources, null].map((row, index) =>
    Float64Array.from([...sources, null], (column, other) => {
      if (row === null || column === null) return row === column ? 0 : 1;
      return spline(cosine(row, column)) + (index === other ? REGULARIZATION : 0);
    }),
  );
  // The system is symmetric: its solution for a target is the row of weights.
  const right = targets.map((target) =>
    Float64Array.from([...sources, null], (source) =>
      source === null ? 1 : spline(cosine(target, source)),
    ),
  );
  return solve(system, right).map((weights) => weights.slice(0, count));
}

function normalize([x, y, z]: Position): Position {
  const norm = Math.hypot(x, y, z);
  return [x / norm, y / norm, z / norm];
}

function cosine(a: Position, b: Position): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** g(cos) = Σ (2n + 1) / (n⁴ (n + 1)⁴ 4π) Pₙ(cos). */
function spline(x: number): number {
  let previous = 1;
  let current = x;
  let sum = 0;
  for (let n = 1; n <= TERMS; n++) {
    sum += ((2 * n + 1) / (n ** STIFFNESS * (n + 1) ** STIFFNESS * 4 * Math.PI)) * current;
    [previous, current] = [current, ((2 * n + 1) * x * current - n * previous) / (n + 1)];
  }
  return sum;
}

/** Solves a linear system for several right sides by Gaussian elimination with partial pivoting. Changes its arguments. */
function solve(system: Float64Array[], sides: readonly Float64Array[]): readonly Float64Array[] {
  const size = system.length;
  for (let column = 0; column < size; column++) {
    const pivot = pivotOf(system, column);
    swap(system, column, pivot);
    for (const side of sides) swap(side, column, pivot);
    const source = system[column] as Float64Array;
    for (let row = column + 1; row < size; row++) {
      const target = system[row] as Float64Array;
      const factor = (target[column] as number) / (source[column] as number);
      for (let k = column; k < size; k++) {
        target[k] = (target[k] as number) - factor * (source[k] as number);
      }
      for (const side of sides) {
        side[row] = (side[row] as number) - factor * (side[column] as number);
      }
    }
  }
  for (const side of sides) {
    for (let row = size - 1; row >= 0; row--) {
      const coefficients = system[row] as Float64Array;
      let sum = side[row] as number;
      for (let k = row + 1; k < size; k++) sum -= (coefficients[k] as number) * (side[k] as number);
      side[row] = sum / (coefficients[row] as number);
    }
  }
  return sides;
}

/** Row from `column` on with the largest magnitude in this column. */
function pivotOf(system: readonly Float64Array[], column: number): number {
  const magnitude = (row: number) => Math.abs(system[row]?.[column] as number);
  let pivot = column;
  for (let row = column + 1; row < system.length; row++) {
    if (magnitude(row) > magnitude(pivot)) pivot = row;
  }
  return pivot;
}

function swap<Element>(list: { [index: number]: Element }, first: number, second: number): void {
  [list[first], list[second]] = [list[second] as Element, list[first] as Element];
}
