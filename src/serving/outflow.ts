/** Bytes that a client has not taken, from which on it gets no more answers. */
export const MOST_UNSENT = 16_384;
/** Bytes below which it gets answers again. */
const FEW_UNSENT = MOST_UNSENT / 2;

/**
 * Counts the bytes that were written and have not gone out. A stream's own 'drain' event does not fit: it comes only
 * after its high-water mark was reached, and that mark depends on the version of Node (16 KiB in 20, 64 KiB from 22).
 */
export class Outflow {
  /** Called after `MOST_UNSENT` was reached, when most of the bytes have gone out. */
  onRoom: () => void = () => {};
  readonly #stream: { readonly writableLength: number };
  #bytes = 0;
  #wasFull = false;

  constructor(stream: { readonly writableLength: number }) {
    this.#stream = stream;
  }

  /** At once without those that the kernel has taken, of which the callbacks are called later. */
  get bytes(): number {
    return Math.min(this.#bytes, this.#stream.writableLength);
  }

  /** Counts a message that is being written. @returns the callback of the write */
  add(bytes: number): () => void {
    this.#bytes += bytes;
    this.#wasFull ||= this.#bytes > MOST_UNSENT;
    return () => {
      this.#bytes -= bytes;
      if (!this.#wasFull || this.#bytes > FEW_UNSENT) return;
      this.#wasFull = false;
      this.onRoom();
    };
  }
}
