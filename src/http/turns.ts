/** How long requests may be worked on before the event loop looks at its sockets again, in ms. */
const TURN_MS = 0.5;

/**
 * Work that takes turns with the rest of the event loop.
 *
 * Node handles every socket that is ready before it looks for new ones. With many clients a round
 * then takes as long as all their bodies take to parse, and a health check, which needs two rounds
 * (its connection, its request), waits for two of them. Parsing and what follows wait here
 * instead, and only so much of it is done between two looks at the sockets.
 */
export class Turns {
  #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Runs `task` soon, in the order of the calls. `task` must not throw. */
  run(task: () => void): void {
    this.#waiting.push(task);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const until = performance.now() + TURN_MS;
    let done = 0;
    do {
      this.#waiting[done++]?.();
    } while (done < this.#waiting.length && performance.now() < until);
    this.#waiting = this.#waiting.slice(done);
    this.#isScheduled = this.#waiting.length > 0;
    if (this.#isScheduled) setImmediate(this.#turn);
  };
}
