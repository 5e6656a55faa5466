/** Counts the work that still needs native memory, which is freed after the last of it. */
export class ActiveWork {
  #count = 0;
  #whenNone: (() => void) | null = null;

  /** Counts `work` until it has ended. */
  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
      this.#look();
    }
  }

  /** Calls `free` when nothing is counted, and what has just ended has begun no further work. Once. */
  onIdle(free: () => void): void {
    this.#whenNone = free;
    this.#look();
  }

  #look(): void {
    if (this.#count > 0 || !this.#whenNone) return;
    // Whoever awaits what has just ended goes on before that.
    setImmediate(() => {
      if (this.#count > 0) return;
      const free = this.#whenNone;
      this.#whenNone = null;
      free?.();
    });
  }
}
