/**
 * Runs `run` with a signal that is aborted when `signal` is, with its reason, or after `timeoutMs` with a
 * DOMException named TimeoutError. Nothing of it is left afterwards, as of AbortSignal.any and
 * AbortSignal.timeout until their time has passed: one client may ask millions of times.
 */
export async function withDeadline<Answer>(
  signal: AbortSignal | undefined,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError'));
  }, timeoutMs);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
