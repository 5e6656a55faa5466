/** How long requests may be worked on before the event loop looks at its sockets again, in ms. */
const TURN_MS = 0.5;
/** How much of the measured pace is the last turn's. */
const LATEST = 0.1;

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
  /** When the last turn ended, and how long one task takes, sockets included, in ms. */
  #lastTurnAt = 0;
  #taskMs = 0;

  /** How long a task that comes now is going to wait, at the pace of the last turns, in ms. */
  get waitMs(): number {
    return this.#waiting.length * this.#taskMs;
  }

  /** Runs `task` soon, in the order of the calls. `task` must not throw. */
  run(task: () => void): void {
    this.#waiting.push(task);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#lastTurnAt = performance.now();
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const until = performance.now() + TURN_MS;
    let done = 0;
    let now: number;
    do {
      this.#waiting[done++]?.();
      now = performance.now();
    } while (done < this.#waiting.length && now < until);
    this.#taskMs += LATEST * ((now - this.#lastTurnAt) / done - this.#taskMs);
    this.#lastTurnAt = now;
    this.#waiting = this.#waiting.slice(done);
    this.#isScheduled = this.#waiting.length > 0;
    if (this.#isScheduled) setImmediate(this.#turn);
  };
}
