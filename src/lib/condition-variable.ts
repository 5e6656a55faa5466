/** Condition variable: waiters check their condition again after each notification. */
export class ConditionVariable {
  #waiters: (() => void)[] = [];

  /** Resolves at the next notification. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  /** Wakes all waiters. */
  notify(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}
