/**
 * The requests that have arrived and are not answered yet, and how the service stands to new ones:
 * it takes them, it takes them and wants to be left (`leave`), or it refuses them (`drain`).
 */
export class RequestsInFlight {
  #size = 0;
  #isLeaving = false;
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  /** The process is to end: nobody should send requests here any more. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** New requests are refused. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#size;
  }

  begun(): void {
    this.#size++;
  }

  ended(): void {
    if (--this.#size === 0) this.#onIdle?.();
  }

  leave(): void {
    this.#isLeaving = true;
  }

  /** Refuses requests from now on; resolves when those that came before are answered. */
  drain(): Promise<void> {
    this.leave();
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#size === 0) resolve();
    });
  }
}
