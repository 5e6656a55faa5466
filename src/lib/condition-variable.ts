/** For those who wait until something is so, and look again each time that it may have become so. */
export class ConditionVariable {
  #waiters: (() => void)[] = [];

  /** Resolves when something changes. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  /** Something has changed. */
  notify(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
