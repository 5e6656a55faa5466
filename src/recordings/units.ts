/** Prefixes of volts, in volts. */
const VOLTS: ReadonlyMap<string, number> = new Map([
  ['V', 1],
  ['mV', 1e-3],
  ['uV', 1e-6],
  ['nV', 1e-9],
]);

/** Factor that converts samples from a unit to another; null: the units measure different things. */
export function unitFactor(from: string, to: string): number | null {
  const [a, b] = [normalize(from), normalize(to)];
  if (a === b) return 1;
  const [first, second] = [VOLTS.get(a), VOLTS.get(b)];
  if (first === undefined || second === undefined) return null;
  // Powers of ten have an exact quotient only in this direction.
  return first >= second ? Math.round(first / second) : 1 / Math.round(second / first);
}

/** Both signs for micro (U+00B5, U+03BC) are written as u. */
function normalize(unit: string): string {
  return unit
    .trim()
    .replace(/^[\u00b5\u03bc]/, 'u')
    .replace(/volts?$/i, 'V');
}
