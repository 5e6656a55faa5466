import type { EngineStats, NativeInput, NativeRefusal } from './binding';
import { EngineError } from './engine-error';

/** Size in bytes below which the queue checks the list itself. */
const MIN_CHECKED_BYTES = 2 ** 20;

/**
 * Compares the size of a list with the queue capacity before the list is copied to native memory. A short list of
 * texts can become large: reranking repeats the query for each document.
 *
 * @returns why the queue rejects the list now; null: it has room for the list
 * @throws EngineError LIST_TOO_LONG: the list exceeds the capacity of the empty queue
 */
export function requireListSize(
  inputs: readonly NativeInput[],
  stats: () => EngineStats,
): NativeRefusal | null {
  const bytes = minimumBytes(inputs);
  if (bytes < MIN_CHECKED_BYTES) return null;
  const { queueBytes, queueBytesLimit, queueWaitMs } = stats();
  if (bytes > queueBytesLimit) {
    const message = `The ${inputs.length} inputs have at least ${bytes} bytes in total, over the limit of ${queueBytesLimit}. A text that is read several times counts several times. Send fewer or shorter texts.`;
    throw new EngineError('LIST_TOO_LONG', message);
  }
  return queueBytes + bytes > queueBytesLimit ? { code: 'QUEUE_FULL', waitMs: queueWaitMs } : null;
}

/** Lower bound of the size that the queue computes for a list. A character has one byte or more in UTF-8. */
function minimumBytes(inputs: readonly NativeInput[]): number {
  return inputs.reduce((sum, input) => {
    if (typeof input === 'string') return sum + input.length;
    if (input instanceof Float32Array) return sum + input.byteLength;
    if ('ends' in input) return sum + input.text.length;
    if ('ids' in input) return sum + input.ids.byteLength + (input.markers?.byteLength ?? 0);
    if ('chunks' in input) return input.chunks.reduce((all, { length }) => all + length, sum);
    if ('labels' in input) {
      const own = input.text.length + (input.task?.length ?? 0);
      return input.labels.reduce((all, { length }) => all + length, sum + own);
    }
    return sum + input.text.length + (input.pair?.length ?? 0) + (input.prompt?.length ?? 0);
  }, 0);
}
