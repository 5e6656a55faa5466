/** Maximum time of all streams in one iteration of the event loop, in ms. */
const SLICE_MS = 10;

/** Work that continues in a later iteration of the event loop. */
interface Resumable {
  resume(): void;
}

/** Limits the time of streams per iteration of the event loop. Streams with more work take turns. */
export class TimeSlices {
  readonly #queue = new Set<Resumable>();
  /** `performance.now()` at the end of the current slice; 0 if none has started. */
  #end = 0;

  /** Whether the slice of this iteration is used up. The first call starts the slice. */
  get isOver(): boolean {
    const now = performance.now();
    if (this.#end === 0) {
      this.#end = now + SLICE_MS;
      setImmediate(this.#next);
    }
    return now >= this.#end;
  }

  /** Calls `resume` in a later iteration. */
  add(work: Resumable): void {
    this.#queue.add(work);
  }

  readonly #next = (): void => {
    this.#end = 0;
    for (const work of this.#queue) {
      if (this.isOver) return; // `isOver` has scheduled the next call.
      this.#queue.delete(work);
      work.resume();
    }
  };
}
