/** Exact arithmetic on doubles, as integers in units of 2^-1074, the smallest subnormal. */
const FRACTION_BITS = 1074n;

export function toExact(value: number): bigint {
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0] as bigint;
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return bits >> 63n ? -magnitude : magnitude;
}

/** Python's `round(value, 4)`, from its definition. */
export function exactRound(value: number): number {
  const scaled = toExact(Math.abs(value)) * 10_000n;
  const one = 1n << FRACTION_BITS;
  const floor = scaled / one;
  const twiceRest = 2n * (scaled % one);
  const roundUp = twiceRest > one || (twiceRest === one && floor % 2n === 1n);
  const rounded = Number(`${floor + (roundUp ? 1n : 0n)}e-4`);
  return value < 0 ? -rounded : rounded;
}

/** (v − mean) / (population standard deviation + 1e-8), rounded once at the end. */
export function exactZNormalize(signal: readonly number[]): number[] {
  const values = signal.map(toExact);
  const n = BigInt(values.length);
  const sum = values.reduce((total, value) => total + value, 0n);
  const sumOfSquares = values.reduce((total, value) => total + value * value, 0n);
  // All times n: n × (v − mean), n × std = sqrt(n Σv² − (Σv)²), n × 1e-8.
  const guard = 200n;
  const deviation = squareRoot((n * sumOfSquares - sum * sum) << (2n * guard));
  const divisor = deviation + ((n * toExact(1e-8)) << guard);
  const precision = 600n;
  return values.map((value) => {
    const numerator = (n * value - sum) << (guard + precision);
    return Number(numerator / divisor) / 2 ** Number(precision);
  });
}

/** Newton's method from above. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
