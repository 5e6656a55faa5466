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
