import type { Segment, SegmentedSamples } from './recording';
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

/** Maximum number of resampled samples: 1 GiB. */
const MAX_RESAMPLED = 2 ** 27;

/**
 * Resamples each segment on its own: the filter must not mix samples from both sides of a gap.
 *
 * @returns null if there are too many resampled samples
 */
export function resampleSegments(
  { samples, segments }: SegmentedSamples,
  from: number,
  to: number,
): SegmentedSamples | null {
  if ((samples.length * to) / from + segments.length > MAX_RESAMPLED) return null;
  const parts = segments.map(({ firstSample }, index) =>
    resample(samples.subarray(firstSample, segments[index + 1]?.firstSample), from, to),
  );
  const resampled = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  const moved: Segment[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const { startSeconds, measuredRateHz } = segments[index] as Segment;
    const measured = measuredRateHz === null ? null : (measuredRateHz * to) / from;
    moved.push({ firstSample: at, startSeconds, measuredRateHz: measured });
    resampled.set(part, at);
    at += part.length;
  }
  return { samples: resampled, segments: moved };
}
