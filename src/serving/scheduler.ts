/** How long requests may be worked on before the event loop looks at its sockets again, in ms. */
const TURN_MS = 0.5;
/** And how long after that for those that are refused: they must not take the time of those that are not. */
const REFUSALS_MS = 0.1;
/** So much may be spent at once on requests that need not wait, in ms, and that share of all time. */
const AT_ONCE_MS = 0.25;
const AT_ONCE_SHARE = 0.25;
/** How long new connections may keep turns waiting, in ms. */
const HASTE_MS = 2;
/** What was measured longer ago counts less, by the number e for each of these, in ms. */
const PACE_MS = 250;

type Task = () => void;

/**
 * Work that takes turns with the rest of the event loop.
 *
 * Node handles every socket that is ready before it does anything else: with thousands of clients,
 * for seconds, because libuv goes on asking for ready sockets while there are more than a thousand,
 * and those that have just been answered soon are again. New connections and health checks wait
 * meanwhile. So whatever answers a request waits here instead, and only so much of it is done
 * between two looks at the sockets. Where hardly anything is to be done, it is done at once: to come
 * back to it costs as much as a refusal.
 */
export class Scheduler {
  readonly #toBegin = new Queue();
  readonly #begun = new Queue();
  readonly #pipelined = new Queue();
  readonly #refusals = new Queue();
  readonly #queues = [this.#toBegin, this.#begun, this.#pipelined, this.#refusals];
  #isScheduled = false;
  #hasNewConnection = false;
  #lastTurnAt = 0;
  #lastAtOnce = 0;
  #spentAtOnce = 0;
  /**
   * Of late: requests that began in turns that left others waiting, and the time of these turns, that of
   * the sockets included, in ms. How long a turn takes that leaves none waiting says little of one with
   * more to do.
   */
  #begunOfLate = 0;
  #timeOfLate = 0;
  /** The time of all such turns, in ms. */
  #measuredMs = 0;

  /**
   * How long a request that comes now is going to wait, at the pace of late, in ms; at most the time that
   * was measured so far. The first turns of a process take many times as long as those after them, and a
   * burst that ends within that time must not be refused for their pace.
   */
  get waitMs(): number {
    if (this.#begunOfLate === 0) return 0;
    const waitMs = (this.#toBegin.length * this.#timeOfLate) / this.#begunOfLate;
    return Math.min(waitMs, this.#measuredMs);
  }

  /** Runs the first task of a request, in the order of the calls. `task` must not throw. */
  begin(task: Task): void {
    this.#do(task, this.#toBegin);
  }

  /**
   * The same for a request that its client sent before it had the answer to the one before: hundreds of
   * them may come at once, and whoever asks one by one is not to wait behind them.
   */
  beginPipelined(task: Task): void {
    this.#do(task, this.#pipelined);
  }

  /** Runs another task of a request that has begun, before any other request begins. */
  proceed(task: Task): void {
    this.#do(task, this.#begun);
  }

  /** Runs a short task that answers a request for which `waitMs` is too long. */
  reject(task: Task): void {
    this.#do(task, this.#refusals);
  }

  /**
   * To be called for each new connection: libuv accepts one between two turns, so that thousands that
   * come together would wait for as many turns. While they come, turns are left out.
   */
  onNewConnection(): void {
    this.#hasNewConnection = true;
  }

  #do(task: Task, queue: Queue): void {
    if (!this.#isScheduled) {
      const start = performance.now();
      const regained = (start - this.#lastAtOnce) * AT_ONCE_SHARE;
      this.#spentAtOnce = Math.max(0, this.#spentAtOnce - regained);
      if (this.#spentAtOnce < AT_ONCE_MS) {
        task();
        this.#lastAtOnce = performance.now();
        this.#spentAtOnce += this.#lastAtOnce - start;
        return;
      }
      this.#isScheduled = true;
      this.#lastTurnAt = start;
      setImmediate(this.#turn);
    }
    queue.push(task);
  }

  readonly #turn = (): void => {
    const start = performance.now();
    const elapsed = start - this.#lastTurnAt;
    const isInHaste = this.#hasNewConnection && elapsed < HASTE_MS;
    this.#hasNewConnection = false;
    if (!isInHaste) this.#work(start);
    this.#isScheduled = this.#queues.some(({ length }) => length > 0);
    if (this.#isScheduled) setImmediate(this.#turn);
  };

  #work(start: number): void {
    const until = start + TURN_MS;
    this.#begun.runSome(until);
    const begun = this.#toBegin.runSome(until);
    this.#pipelined.runSome(until);
    this.#refusals.runSome(performance.now() + REFUSALS_MS);
    const now = performance.now();
    if (this.#toBegin.length > 0) this.#measure(begun, now - this.#lastTurnAt);
    this.#lastTurnAt = now;
  }

  #measure(begun: number, elapsed: number): void {
    const kept = Math.exp(-elapsed / PACE_MS);
    this.#begunOfLate = this.#begunOfLate * kept + begun;
    this.#timeOfLate = this.#timeOfLate * kept + elapsed;
    this.#measuredMs += elapsed;
  }
}

/** Tasks in the order in which they came. */
class Queue {
  /** Those before `#next` have run: to move thousands for each few that run would cost more than they do. */
  #tasks: (Task | null)[] = [];
  #next = 0;

  get length(): number {
    return this.#tasks.length - this.#next;
  }

  push(task: Task): void {
    this.#tasks.push(task);
  }

  /** Runs tasks until the time is up, at least one; returns how many. */
  runSome(until: number): number {
    const first = this.#next;
    while (this.#next < this.#tasks.length) {
      const task = this.#tasks[this.#next];
      this.#tasks[this.#next++] = null;
      task?.();
      if (performance.now() >= until) break;
    }
    const done = this.#next - first;
    if (this.#next * 2 >= this.#tasks.length) {
      this.#tasks = this.#tasks.slice(this.#next);
      this.#next = 0;
    }
    return done;
  }
}
