/**
 * Python's `round(value, 4)`: the decimal with 4 places nearest to the exact value of the double,
 * ties to even (CPython rounds with dtoa in mode 3, Objects/floatobject.c).
 *
 * `toFixed` is exact as well but takes ties away from zero (ECMA-262, Number.prototype.toFixed).
 * A tie means value × 10^4 = n + 1/2, that is value = (2n + 1) / (2^5 × 5^4). A double has no
 * factor 5 below the line, so ties are exactly the odd multiples of 1/32, and those have five
 * decimals: `toFixed(5)` is their exact value.
 */
export function roundToFourDecimals(value: number): number {
  const thirtySeconds = value * 32;
  if (!Number.isInteger(thirtySeconds) || thirtySeconds % 2 === 0) return Number(value.toFixed(4));
  const towardsZero = value.toFixed(5).slice(0, -1);
  const isEven = Number(towardsZero.at(-1)) % 2 === 0;
  return Number(isEven ? towardsZero : value.toFixed(4));
}
