/** Callbacks per AbortSignal. One listener per signal, because Node.js warns about more than ten listeners. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when the signal is aborted.
 *
 * @returns function that removes the callback
 */
export function addAbortListener(
  signal: AbortSignal | undefined,
  callback: () => void,
): () => void {
  if (!signal) return () => {};
  const registered = callbacks.get(signal) ?? new Set();
  if (!callbacks.has(signal)) {
    callbacks.set(signal, registered);
    signal.addEventListener('abort', () => {
      for (const call of [...registered]) call();
    });
  }
  registered.add(callback);
  return () => {
    registered.delete(callback);
  };
}

/**
 * Runs `run` with a signal that is aborted together with `signal`, or after `timeoutMs` with a DOMException named
 * TimeoutError. Unlike AbortSignal.any and AbortSignal.timeout, releases timer and listener when `run` settles.
 */
export async function withTimeout<Result>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  const removeListener = addAbortListener(signal, abort);
  const timer = setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    removeListener();
  }
}

/** Waits for `ms` milliseconds. @throws the reason of the signal when it is aborted */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const untilAborted = (either: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (either.aborted) resolve();
      else either.addEventListener('abort', () => resolve());
    });
  await withTimeout(signal, ms, untilAborted);
  signal?.throwIfAborted();
}

export function timeoutError(timeoutMs: number): DOMException {
  return new DOMException(`No response within ${timeoutMs} ms.`, 'TimeoutError');
}
