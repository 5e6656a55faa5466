/** Who is to be told, by signal. */
const told = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `call` when the signal is aborted. One listener for all who wait for the same signal: Node warns
 * of more than ten, and a client may send more lists than that at a time.
 *
 * @returns what takes it back
 */
export function onceAborted(signal: AbortSignal, call: () => void): () => void {
  let calls = told.get(signal);
  if (!calls) {
    const all = new Set<() => void>();
    signal.addEventListener('abort', () => {
      for (const each of [...all]) each();
    });
    told.set(signal, all);
    calls = all;
  }
  calls.add(call);
  return () => {
    calls.delete(call);
  };
}
