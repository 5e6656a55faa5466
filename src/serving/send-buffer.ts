/** Number of unsent bytes above which a client gets no more messages. */
export const MAX_UNSENT_BYTES = 16_384;
/** Number of unsent bytes below which a client gets messages again. */
const LOW_WATER_BYTES = MAX_UNSENT_BYTES / 2;

/**
 * Counts the written bytes that are not sent yet. The stream's own 'drain' event depends on its high-water mark, which
 * differs between versions of Node (16 KiB in 20, 64 KiB from 22 on).
 */
export class SendBuffer {
  /** Called when most bytes are sent, after `MAX_UNSENT_BYTES` was exceeded. */
  onDrain: () => void = () => {};
  readonly #stream: { readonly writableLength: number };
  #bytes = 0;
  #wasFull = false;

  constructor(stream: { readonly writableLength: number }) {
    this.#stream = stream;
  }

  /** Number of unsent bytes. The kernel can have taken bytes before the callbacks of their writes are called. */
  get bytes(): number {
    return Math.min(this.#bytes, this.#stream.writableLength);
  }

  /** Counts a message that is being written. @returns the callback for the write */
  add(bytes: number): () => void {
    this.#bytes += bytes;
    this.#wasFull ||= this.#bytes > MAX_UNSENT_BYTES;
    return () => {
      this.#bytes -= bytes;
      if (!this.#wasFull || this.#bytes > LOW_WATER_BYTES) return;
      this.#wasFull = false;
      this.onDrain();
    };
  }
}
