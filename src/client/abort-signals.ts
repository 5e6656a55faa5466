/** Who is to be told, by signal. */
const told = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `call` when the signal is aborted. One listener for all who wait for the same signal: Node warns
 * of more than ten, and a client may send more lists than that at a time.
 *
 * @returns what takes it back
 */
export function addAbortListener(signal: AbortSignal | undefined, call: () => void): () => void {
  if (!signal) return () => {};
  const calls = told.get(signal) ?? new Set();
  if (!told.has(signal)) {
    told.set(signal, calls);
    signal.addEventListener('abort', () => {
      for (const each of [...calls]) each();
    });
  }
  calls.add(call);
  return () => {
    calls.delete(call);
  };
}

/**
 * Runs `run` with a signal that is aborted when `signal` is, with its reason, or after `timeoutMs` with a
 * DOMException named TimeoutError. Nothing of it is left afterwards, as of AbortSignal.any and
 * AbortSignal.timeout until their time has passed: one client may ask millions of times.
 */
export async function withTimeout<Answer>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  const forget = addAbortListener(signal, onAbort);
  const timer = setTimeout(() => {
    controller.abort(timeoutError(timeoutMs));
  }, timeoutMs);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/** @throws the signal's reason when it is aborted */
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
  return new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError');
}
