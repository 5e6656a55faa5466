import type { SegmentedSamples } from '../../recordings/recording';

/** Nearest first sample of a window within a segment; null if no segment is as long as a window. */
export function clampStart(
  start: number,
  { samples, segments }: SegmentedSamples,
  length: number,
): number | null {
  let nearest: number | null = null;
  for (const [index, { firstSample }] of segments.entries()) {
    const last = (segments[index + 1]?.firstSample ?? samples.length) - length;
    if (last < firstSample) continue;
    const candidate = Math.max(firstSample, Math.min(Math.round(start), last));
    if (nearest === null || Math.abs(candidate - start) < Math.abs(nearest - start)) {
      nearest = candidate;
    }
  }
  return nearest;
}

/**
 * First sample of a window that is `by` samples later, or earlier if negative. Skips segments that are shorter than a
 * window; stays if no window follows.
 */
export function shiftStart(
  start: number,
  by: number,
  signal: SegmentedSamples,
  length: number,
): number | null {
  const nearest = clampStart(start + by, signal, length);
  if (nearest === null || Math.sign(nearest - start) === Math.sign(by)) return nearest;
  const { samples, segments } = signal;
  const others = segments.flatMap(({ firstSample }, index) => {
    const last = (segments[index + 1]?.firstSample ?? samples.length) - length;
    const entry = by > 0 ? firstSample : last;
    return last >= firstSample && Math.sign(entry - start) === Math.sign(by) ? [entry] : [];
  });
  return (by > 0 ? others[0] : others[others.length - 1]) ?? nearest;
}

/** Mean probability per class over windows, in the order of the first window. */
export function meanProbabilities(
  all: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const probabilities of all) {
    for (const [name, value] of Object.entries(probabilities)) {
      sums.set(name, (sums.get(name) ?? 0) + value);
    }
  }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, sum / all.length]));
}
