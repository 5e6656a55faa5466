import type { SignalStream } from './signal-stream';

/** Time that all streams together may take of one iteration of the event loop, in ms. */
const TURN_MS = 10;

/** Streams that have more to do than fits into one iteration of the event loop: they go on one after the other. */
export class Turns {
  /** In the order in which they go on. */
  readonly #waiting = new Set<SignalStream>();
  /** `performance.now()` until which streams may work; 0: none has in this iteration. */
  #ends = 0;

  /** Whether the time of this iteration is used up. */
  get isOver(): boolean {
    const now = performance.now();
    if (this.#ends === 0) {
      this.#ends = now + TURN_MS;
      setImmediate(this.#next);
    }
    return now >= this.#ends;
  }

  /** Calls its `takeTurn` in a later iteration. */
  add(stream: SignalStream): void {
    this.#waiting.add(stream);
  }

  readonly #next = (): void => {
    this.#ends = 0;
    for (const stream of this.#waiting) {
      if (this.isOver) return; // which has scheduled the next call
      this.#waiting.delete(stream);
      stream.takeTurn();
    }
  };
}
