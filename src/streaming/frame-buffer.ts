import { type Block, lengthOf } from '../preprocessing/block';

/** Minimum capacity in samples. */
const MIN_CAPACITY = 256;

/** The last samples of all channels of a signal. */
export class FrameBuffer {
  readonly #channels: Float64Array[];
  /** Number of the sample at index 0. */
  #first = 0;
  /** Number of the next sample. */
  end = 0;

  constructor(channels: number) {
    this.#channels = Array.from({ length: channels }, () => new Float64Array(0));
  }

  /** @param keepFrom samples before this number are no longer needed */
  append(block: Block, keepFrom: number): void {
    const count = lengthOf(block);
    if (count === 0) return;
    this.#makeRoom(count, keepFrom);
    const at = this.end - this.#first;
    for (const [channel, samples] of block.entries()) this.#channels[channel]?.set(samples, at);
    this.end += count;
  }

  /** Views of the samples from `start` to `end` (exclusive), valid until the next `append`. */
  views(start: number, end: number): Block {
    return this.#channels.map((samples) =>
      samples.subarray(start - this.#first, end - this.#first),
    );
  }

  clear(): void {
    this.#first = 0;
    this.end = 0;
  }

  #makeRoom(count: number, keepFrom: number): void {
    const capacity = this.#channels[0]?.length ?? 0;
    if (this.end - this.#first + count <= capacity) return;
    const from = Math.min(Math.max(keepFrom, this.#first), this.end);
    const needed = this.end - from + count;
    const size = needed <= capacity ? capacity : Math.max(MIN_CAPACITY, Math.ceil(needed * 1.5));
    for (const [channel, samples] of this.#channels.entries()) {
      const kept = samples.subarray(from - this.#first, this.end - this.#first);
      if (size === capacity) samples.copyWithin(0, from - this.#first, this.end - this.#first);
      else {
        const larger = new Float64Array(size);
        larger.set(kept);
        this.#channels[channel] = larger;
      }
    }
    this.#first = from;
  }
}
