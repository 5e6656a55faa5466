import { roundToFourDecimals } from '../../numeric/rounding';

/** Four decimals each, by the names of the model's outputs and in their order. */
export function namedProbabilities(
  names: readonly string[],
  values: Float32Array,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    names.map((name, index) => [name, roundToFourDecimals(values[index] as number)]),
  );
}
