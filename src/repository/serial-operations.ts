interface Operation {
  readonly what: string;
  readonly done: Promise<void>;
}

/** What is done about a name is done in turn; who asks for what waits already gets that. */
export class SerialOperations {
  /** By name, those that have not begun; and the last of all. */
  readonly #waiting = new Map<string, Operation>();
  readonly #last = new Map<string, Promise<void>>();

  /** @param what two of the same, one after the other, are one */
  run(name: string, what: string, run: () => Promise<void>): Promise<void> {
    const waiting = this.#waiting.get(name);
    if (waiting?.what === what) return waiting.done;
    const before = this.#last.get(name) ?? Promise.resolve();
    const done = before
      .catch(() => undefined)
      .then(() => {
        if (this.#waiting.get(name)?.done === done) this.#waiting.delete(name);
        return run();
      });
    this.#waiting.set(name, { what, done });
    this.#last.set(name, done);
    const forget = (): void => {
      if (this.#last.get(name) === done) this.#last.delete(name);
    };
    done.then(forget, forget);
    return done;
  }
}
