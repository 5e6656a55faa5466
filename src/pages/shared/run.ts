import { ResponseError } from '../../client';

/** Outcomes are drawn at most as often. */
const SHOW_EVERY_MS = 100;

/** One request at a time, so that others get their turn; sent again where the service is busy. */
export const RUN_OPTIONS = {
  concurrency: 1,
  onRetry: (error: Error): void => {
    if (!(error instanceof ResponseError && error.status === 503)) throw error;
  },
};

/** Shows the outcomes that have come so far, some times a second and at the end. @throws as they do */
export async function follow<One>(
  outcomes: AsyncIterable<One>,
  show: (all: readonly One[]) => void,
): Promise<void> {
  const all: One[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;
  try {
    for await (const outcome of outcomes) {
      all.push(outcome);
      if (performance.now() - shownAt < SHOW_EVERY_MS) continue;
      show([...all]);
      shownAt = performance.now();
    }
  } finally {
    show(all);
  }
}
