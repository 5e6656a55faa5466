/** Time spent on tasks before the event loop polls its sockets again, in ms. */
const TURN_MS = 0.5;
/** Additional time for rejections: they must not take time from accepted requests. */
const REJECTIONS_MS = 0.1;
/** Limit for tasks that run immediately: this many ms, refilled at this share of elapsed time. */
const IMMEDIATE_MS = 0.25;
const IMMEDIATE_SHARE = 0.25;
/** Maximum time for which new connections postpone a turn, in ms. */
const MAX_POSTPONE_MS = 2;
/** Time constant of the throughput average: older measurements decay by the factor e per period, in ms. */
const AVERAGE_MS = 250;

type Task = () => void;

/**
 * Runs the work of requests in turns, between which the event loop polls its sockets.
 *
 * Node handles all ready sockets before anything else. With thousands of clients this takes seconds, because libuv
 * polls again while over a thousand sockets are ready, and answered clients soon send again. New connections and
 * health checks wait during that time. This scheduler therefore queues the work, and does a limited amount of it per
 * turn. Under low load tasks run immediately, since queueing a task costs as much as a rejection.
 */
export class EventLoopScheduler {
  readonly #toBegin = new TaskQueue();
  readonly #begun = new TaskQueue();
  readonly #pipelined = new TaskQueue();
  readonly #rejections = new TaskQueue();
  readonly #queues = [this.#toBegin, this.#begun, this.#pipelined, this.#rejections];
  #isScheduled = false;
  #hasNewConnection = false;
  #lastTurnAt = 0;
  #lastImmediateAt = 0;
  #immediateMs = 0;
  /**
   * Decaying sums over turns that left requests waiting: started requests, and the time of the turns with their
   * socket polling, in ms. Other turns do not measure throughput.
   */
  #recentStarts = 0;
  #recentMs = 0;
  /** Total time of these turns, in ms. */
  #measuredMs = 0;

  /**
   * Expected wait of a new request, in ms, from recent throughput. At most the measured time: the first turns of a
   * process are many times slower than later ones, and must not cause the rejection of a short burst.
   */
  get waitMs(): number {
    if (this.#recentStarts === 0) return 0;
    const waitMs = (this.#toBegin.length * this.#recentMs) / this.#recentStarts;
    return Math.min(waitMs, this.#measuredMs);
  }

  /** Runs the first task of a request, in order of the calls. `task` must not throw. */
  begin(task: Task): void {
    this.#run(task, this.#toBegin);
  }

  /** Runs the first task of a pipelined request, after those of clients that wait for each response. */
  beginPipelined(task: Task): void {
    this.#run(task, this.#pipelined);
  }

  /** Runs another task of a started request, before new requests start. */
  proceed(task: Task): void {
    this.#run(task, this.#begun);
  }

  /** Runs the short task of a rejected request. */
  reject(task: Task): void {
    this.#run(task, this.#rejections);
  }

  /**
   * Called for each new connection. libuv accepts one connection between two turns: turns are postponed while
   * connections arrive, or thousands of simultaneous ones would wait for thousands of turns.
   */
  onNewConnection(): void {
    this.#hasNewConnection = true;
  }

  #run(task: Task, queue: TaskQueue): void {
    if (!this.#isScheduled) {
      const start = performance.now();
      const refill = (start - this.#lastImmediateAt) * IMMEDIATE_SHARE;
      this.#immediateMs = Math.max(0, this.#immediateMs - refill);
      if (this.#immediateMs < IMMEDIATE_MS) {
        task();
        this.#lastImmediateAt = performance.now();
        this.#immediateMs += this.#lastImmediateAt - start;
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
    const isPostponed = this.#hasNewConnection && start - this.#lastTurnAt < MAX_POSTPONE_MS;
    this.#hasNewConnection = false;
    if (!isPostponed) this.#runQueues(start);
    this.#isScheduled = this.#queues.some(({ length }) => length > 0);
    if (this.#isScheduled) setImmediate(this.#turn);
  };

  #runQueues(start: number): void {
    const until = start + TURN_MS;
    this.#begun.runUntil(until);
    const started = this.#toBegin.runUntil(until);
    this.#pipelined.runUntil(until);
    this.#rejections.runUntil(performance.now() + REJECTIONS_MS);
    const now = performance.now();
    if (this.#toBegin.length > 0) this.#measure(started, now - this.#lastTurnAt);
    this.#lastTurnAt = now;
  }

  #measure(started: number, elapsedMs: number): void {
    const decay = Math.exp(-elapsedMs / AVERAGE_MS);
    this.#recentStarts = this.#recentStarts * decay + started;
    this.#recentMs = this.#recentMs * decay + elapsedMs;
    this.#measuredMs += elapsedMs;
  }
}

/** First-in, first-out queue of tasks. */
class TaskQueue {
  /** Tasks before `#next` have run; they are removed in bulk, since shifting an array for each costs more. */
  #tasks: (Task | null)[] = [];
  #next = 0;

  get length(): number {
    return this.#tasks.length - this.#next;
  }

  push(task: Task): void {
    this.#tasks.push(task);
  }

  /** Runs tasks until `performance.now()` reaches `until`, at least one. @returns number of tasks */
  runUntil(until: number): number {
    const first = this.#next;
    while (this.#next < this.#tasks.length) {
      const task = this.#tasks[this.#next];
      this.#tasks[this.#next++] = null;
      task?.();
      if (performance.now() >= until) break;
    }
    const count = this.#next - first;
    if (this.#next * 2 >= this.#tasks.length) {
      this.#tasks = this.#tasks.slice(this.#next);
      this.#next = 0;
    }
    return count;
  }
}
