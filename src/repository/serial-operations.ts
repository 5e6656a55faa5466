interface Operation {
  readonly type: string;
  readonly done: Promise<void>;
}

/** Runs the operations of each model one after another. */
export class SerialOperations {
  /** Operations that have not started, by model name. */
  readonly #queued = new Map<string, Operation>();
  /** Last operation by model name. */
  readonly #last = new Map<string, Promise<void>>();

  /** @param type a queued operation with the same type is shared */
  run(name: string, type: string, run: () => Promise<void>): Promise<void> {
    const queued = this.#queued.get(name);
    if (queued?.type === type) return queued.done;
    const previous = this.#last.get(name) ?? Promise.resolve();
    const done = previous
      .catch(() => undefined)
      .then(() => {
        if (this.#queued.get(name)?.done === done) this.#queued.delete(name);
        return run();
      });
    this.#queued.set(name, { type, done });
    this.#last.set(name, done);
    const remove = (): void => {
      if (this.#last.get(name) === done) this.#last.delete(name);
    };
    done.then(remove, remove);
    return done;
  }
}
