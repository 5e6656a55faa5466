/** Consecutive samples of all channels: an array per channel, all of the same length. */
export type Block = readonly Float64Array[];

/** Names of the channels and sampling rate of a signal. */
export interface SignalFormat {
  readonly channels: readonly string[];
  readonly samplingRateHz: number;
}

/** A step of preprocessing, with the state that it keeps from block to block. */
export interface SignalStep {
  /** Format of the signal after the step. */
  readonly output: SignalFormat;
  /** Number of values that the step keeps per channel, at most; null: the whole signal. */
  readonly state: number | null;
  /** Look-ahead of an output. Default: none. */
  readonly delaySeconds?: number;
  /** @returns the samples that are known so far; empty arrays are valid. The step can change `block` in place */
  push(block: Block): Block;
  /** Ends the signal. @returns the remaining samples @throws PreprocessingError */
  end(): Block;
}

/** A signal that a step cannot process. The message contains the fix. */
export class PreprocessingError extends Error {
  override readonly name = 'PreprocessingError';
}

export function lengthOf(block: Block): number {
  return block[0]?.length ?? 0;
}

export function emptyBlock(channels: number): Block {
  return Array.from({ length: channels }, () => new Float64Array(0));
}

/** Concatenates blocks of the same channels. */
export function concatenate(blocks: readonly Block[], channels: number): Block {
  const parts = blocks.filter((block) => lengthOf(block) > 0);
  const [only] = parts;
  if (only && parts.length === 1) return only;
  const length = parts.reduce((sum, block) => sum + lengthOf(block), 0);
  return Array.from({ length: channels }, (_, channel) => {
    const all = new Float64Array(length);
    let at = 0;
    for (const block of parts) {
      const samples = block[channel] as Float64Array;
      all.set(samples, at);
      at += samples.length;
    }
    return all;
  });
}
