import { Cancellation, type CancelSignal } from '../../src/native/pending-requests';

/** What both do, so that the engine can take either. */
const KINDS: readonly [string, () => { signal: CancelSignal; abort: () => void }][] = [
  [
    'AbortController',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: () => controller.abort() };
    },
  ],
  [
    'Cancellation',
    () => {
      const cancellation = new Cancellation();
      return { signal: cancellation, abort: () => cancellation.abort() };
    },
  ],
];

describe.each(KINDS)('%s', (_name, create) => {
  test('calls every listener once', () => {
    const { signal, abort } = create();
    const calls: string[] = [];
    signal.addEventListener('abort', () => calls.push(`a ${signal.aborted}`));
    signal.addEventListener('abort', () => calls.push(`b ${signal.aborted}`));
    expect(signal.aborted).toBe(false);
    abort();
    abort();
    expect(calls).toEqual(['a true', 'b true']);
  });

  test('does not call one that was removed, before or meanwhile', () => {
    const { signal, abort } = create();
    const calls: string[] = [];
    const before = (): number => calls.push('before');
    const second = (): number => calls.push('second');
    signal.addEventListener('abort', before);
    signal.removeEventListener('abort', before);
    signal.addEventListener('abort', () => {
      calls.push('first');
      signal.removeEventListener('abort', second);
    });
    signal.addEventListener('abort', second);
    abort();
    expect(calls).toEqual(['first']);
  });
});
