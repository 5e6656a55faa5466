/** Clamps the first sample of a window to the recording. */
export function clampStart(start: number, samples: number, length: number): number {
  return Math.max(0, Math.min(Math.round(start), samples - length));
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
