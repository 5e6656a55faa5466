import { ResampleFilter } from './resample-filter';

/**
 * A signal at another sampling rate, see `ResampleFilter`.
 *
 * @param values at `from` Hz
 * @returns samples at `to` Hz, the first at the same time
 */
export function resample(values: Float64Array, from: number, to: number): Float64Array {
  if (from === to) return values.slice();
  const filter = new ResampleFilter(from, to);
  const samples = { values, first: 0, end: values.length };
  const output = new Float64Array(Math.max(1, filter.lengthOf(values.length)));
  for (let at = 0; at < output.length; at++) output[at] = filter.at(at, samples);
  return output;
}
