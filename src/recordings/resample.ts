import { ResampleFilter } from './resample-filter';

/**
 * Resamples a signal (see `ResampleFilter`).
 *
 * @param values samples at `from` Hz
 * @returns samples at `to` Hz; the first sample has the same time
 */
export function resample(values: Float64Array, from: number, to: number): Float64Array {
  if (from === to) return values.slice();
  const filter = new ResampleFilter(from, to);
  const samples = { values, first: 0, end: values.length };
  const output = new Float64Array(Math.max(1, filter.lengthOf(values.length)));
  for (let at = 0; at < output.length; at++) output[at] = filter.at(at, samples);
  return output;
}
