import type { Peers } from './peers';

/** How often each event loop tells the others for how long its connections have waited. */
const TELL_INTERVAL_MS = 250;
/**
 * Connections that may be open beyond the limit while another event loop is on its way to close as many,
 * which may do nothing for a while.
 */
const MOST_BEYOND = 16;
const NS_PER_MS = 1e6;

const ROOM = 'room for a connection';

/** The connections of one event loop. */
export interface Side {
  /** For how long one of them has waited for its client at most, in ms; null: none waits. */
  longestWaitMs(): number | null;
  /** Closes that one; false: none waits. */
  makeRoom(): boolean;
}

/** What the event loops of a process share, from the view of one of them. */
export interface SharedLimit {
  /** See `ConnectionLimit.memory`. */
  readonly memory: SharedArrayBuffer;
  readonly loop: number;
  readonly peers: Pick<Peers, 'notify' | 'onNotice'>;
}

/**
 * How many connections may be open, whichever event loops have accepted them: the kernel hands one to who
 * takes it first, so one loop may have them all. At the limit the connection that has waited for its client
 * for longest makes room, also if it is another loop's.
 */
export class ConnectionLimit {
  readonly #limit: bigint;
  /**
   * First the number of open connections, then for each event loop the time (`process.hrtime`) since which
   * one of its connections waits for its client; 0: none does.
   */
  readonly #shared: BigInt64Array;
  readonly #loop: number;
  /** Null: there is one event loop. */
  readonly #peers: SharedLimit['peers'] | null;
  #side: Side | null = null;

  constructor(limit: number, shared: SharedLimit | null = null) {
    this.#limit = BigInt(limit);
    this.#shared = new BigInt64Array(shared?.memory ?? ConnectionLimit.memory(1));
    this.#loop = shared?.loop ?? 0;
    this.#peers = shared?.peers ?? null;
  }

  /** For `SharedLimit`, of so many event loops. */
  static memory(loops: number): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + loops) * BigInt64Array.BYTES_PER_ELEMENT);
  }

  /** Before the first connection. */
  govern(side: Side): void {
    this.#side = side;
    if (!this.#peers) return;
    this.#peers.onNotice(ROOM, () => this.#settle());
    setInterval(() => {
      this.#tell();
      this.#settle();
    }, TELL_INTERVAL_MS).unref();
  }

  /** Counts one more. False: first this event loop has to make room, or the new one has to go. */
  opened(): boolean {
    const beyond = Atomics.add(this.#shared, 0, 1n) + 1n - this.#limit;
    if (beyond <= 0n) return true;
    if (!this.#peers || beyond > MOST_BEYOND) return false;
    const loop = this.#longestWaiting();
    if (loop === null || loop === this.#loop) return false;
    this.#peers.notify(loop, ROOM);
    return true;
  }

  closed(): void {
    Atomics.sub(this.#shared, 0, 1n);
  }

  /** One waits for its client in this event loop, in which none did. */
  waits(): void {
    if (this.#peers && this.#since(this.#loop) === 0n) this.#tell();
  }

  /** Closes what is open beyond the limit, or lets another event loop do so. */
  #settle(): void {
    while (Atomics.load(this.#shared, 0) > this.#limit) {
      const loop = this.#longestWaiting();
      if (loop !== null && loop !== this.#loop) {
        this.#peers?.notify(loop, ROOM);
        return;
      }
      if (!this.#side?.makeRoom()) return; // nobody waits: it is settled when somebody does
    }
  }

  /** The event loop whose connection has waited for its client for longest; null: none waits. */
  #longestWaiting(): number | null {
    this.#tell();
    let longest: number | null = null;
    for (let loop = 0; loop < this.#shared.length - 1; loop++) {
      const since = this.#since(loop);
      if (since === 0n) continue;
      if (longest === null || since < this.#since(longest)) longest = loop;
    }
    return longest;
  }

  #since(loop: number): bigint {
    return Atomics.load(this.#shared, 1 + loop);
  }

  #tell(): void {
    const waitMs = this.#side?.longestWaitMs() ?? null;
    const since =
      waitMs === null ? 0n : process.hrtime.bigint() - BigInt(Math.round(waitMs * NS_PER_MS));
    Atomics.store(this.#shared, 1 + this.#loop, since);
  }
}
