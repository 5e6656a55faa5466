import { ResponseError } from '../../client';

/** Minimum time between two updates of the page. */
const UPDATE_INTERVAL_MS = 100;

/** One request at a time, so that other clients get their share. Only 503 is retried. */
export const RUN_OPTIONS = {
  concurrency: 1,
  onRetry: (error: Error): void => {
    if (!(error instanceof ResponseError && error.status === 503)) throw error;
  },
};

/**
 * Collects outcomes and passes those received so far to `show`, several times a second and at the end.
 *
 * @throws the errors of the iterator
 */
export async function collectOutcomes<Outcome>(
  outcomes: AsyncIterable<Outcome>,
  show: (received: readonly Outcome[]) => void,
): Promise<void> {
  const received: Outcome[] = [];
  let shownAt = Number.NEGATIVE_INFINITY;
  try {
    for await (const outcome of outcomes) {
      received.push(outcome);
      if (performance.now() - shownAt < UPDATE_INTERVAL_MS) continue;
      show([...received]);
      shownAt = performance.now();
    }
  } finally {
    show(received);
  }
}
