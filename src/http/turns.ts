/** How long requests may be worked on before the event loop looks at its sockets again, in ms. */
const TURN_MS = 0.5;
/** And how long after that for those that are refused: they must not take the time of those that are not. */
const REFUSALS_MS = 0.1;
/** How much of the measured pace is the last turn's. */
const LATEST = 0.1;

type Task = () => void;

/**
 * Work that takes turns with the rest of the event loop.
 *
 * Node handles every socket that is ready before it does anything else: with thousands of clients,
 * for seconds, because libuv goes on asking for ready sockets while there are more than a thousand,
 * and those that have just been answered soon are again. New connections and health checks wait
 * meanwhile. So whatever answers a request waits here instead, and only so much of it is done
 * between two looks at the sockets.
 */
export class Turns {
  #toBegin: Task[] = [];
  #begun: Task[] = [];
  #refusals: Task[] = [];
  #isScheduled = false;
  /** When the last turn ended, and how long a request takes, the sockets included, in ms. */
  #lastTurnAt = 0;
  #requestMs = 0;

  /** How long a request that comes now is going to wait, at the pace of the last turns, in ms. */
  get waitMs(): number {
    return this.#toBegin.length * this.#requestMs;
  }

  /** Runs the first task of a request soon, in the order of the calls. `task` must not throw. */
  begin(task: Task): void {
    this.#toBegin.push(task);
    this.#schedule();
  }

  /** Runs another task of a request that has begun, before any other request begins. */
  proceed(task: Task): void {
    this.#begun.push(task);
    this.#schedule();
  }

  /** Runs a short task that answers a request for which `waitMs` is too long. */
  refuse(task: Task): void {
    this.#refusals.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#lastTurnAt = performance.now();
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const until = performance.now() + TURN_MS;
    const proceeded = runSome(this.#begun, until);
    const begun = runSome(this.#toBegin, until);
    const refused = runSome(this.#refusals, performance.now() + REFUSALS_MS);
    this.#begun = this.#begun.slice(proceeded);
    this.#toBegin = this.#toBegin.slice(begun);
    this.#refusals = this.#refusals.slice(refused);
    if (begun > 0) this.#measure(begun);
    const left = this.#begun.length + this.#toBegin.length + this.#refusals.length;
    this.#isScheduled = left > 0;
    if (this.#isScheduled) setImmediate(this.#turn);
  };

  #measure(begun: number): void {
    const now = performance.now();
    this.#requestMs += LATEST * ((now - this.#lastTurnAt) / begun - this.#requestMs);
    this.#lastTurnAt = now;
  }
}

/** Runs tasks of the list until the time is up, at least one; returns how many. */
function runSome(tasks: readonly Task[], until: number): number {
  let done = 0;
  while (done < tasks.length) {
    tasks[done++]?.();
    if (performance.now() >= until) break;
  }
  return done;
}
