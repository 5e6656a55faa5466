import type { NativeInput } from './binding';
import { EngineError } from './engine-error';

/** Lists of fewer bytes are given to the queue as they are. */
export const MIN_CHECKED_BYTES = 2 ** 20;

/** Bytes of a list, as the queue counts them, at least: a character has one or more. */
export function minimumBytes(inputs: readonly NativeInput[]): number {
  return inputs.reduce((sum, input) => {
    if (typeof input === 'string') return sum + input.length;
    if (input instanceof Float32Array) return sum + input.byteLength;
    if ('ids' in input) return sum + input.ids.byteLength;
    return sum + input.text.length + (input.pair?.length ?? 0) + (input.prompt?.length ?? 0);
  }, 0);
}

export function listTooLong(count: number, bytes: number, limit: number): EngineError {
  const message = `The ${count} inputs have ${bytes} characters, each text counted as often as it is read, over the limit of ${limit}. Send fewer or shorter texts.`;
  return new EngineError('LIST_TOO_LONG', message);
}
