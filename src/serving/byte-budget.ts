import { CompactingMap } from '../lib/compacting-map';

/** What Node keeps of each piece in which bytes come, beside them: of a byte alone it is 300 times as much. */
export const PIECE_BYTES = 320;
/**
 * Bodies and messages that say they are no larger always have room: those of nearly all requests, so that
 * senders of large ones do not keep them out. MAX_CONNECTIONS bounds how many they are.
 */
export const SMALL_BYTES = 16 * 1024;

/** Of what clients send. */
export interface BodyLimits {
  /** Bytes of all bodies or messages on their way; as many of compressed ones, and of answers. */
  readonly bodyMemory: number;
  /** Bytes of one, as it is when it is no longer compressed. */
  readonly bodyLimit: number;
}

/** What holds bytes for a client that may never take or send the rest. */
interface Holder {
  bytes: number;
  /** `performance.now()` when it began. */
  readonly since: number;
}

export interface ByteBudgetOptions<Key> {
  readonly limit: number;
  /** How long one may have held bytes before it is cut off to make room for others, in ms. */
  readonly patienceMs: number;
  /** Cuts one off. False where it is not the client's turn: then it stays. */
  readonly cut: (key: Key) => boolean;
}

/**
 * Bytes that are held for many clients at once, at most `limit`. Where one more does not fit, those who
 * have been at it for longest are cut off: the quick are not to wait for the slow.
 */
export class ByteBudget<Key> {
  readonly #options: ByteBudgetOptions<Key>;
  readonly #holders = new CompactingMap<Key, Holder>();
  #held = 0;

  constructor(options: ByteBudgetOptions<Key>) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  begin(key: Key, bytes: number): void {
    this.#holders.set(key, { bytes, since: performance.now() });
    this.#held += bytes;
  }

  /** More of one that has begun. False: it has not, or has ended, and nothing is held of it. */
  add(key: Key, bytes: number): boolean {
    const holder = this.#holders.get(key);
    if (!holder) return false;
    holder.bytes += bytes;
    this.#held += bytes;
    return true;
  }

  end(key: Key): void {
    this.#held -= this.#holders.get(key)?.bytes ?? 0;
    this.#holders.delete(key);
  }

  /** Whether `bytes` more fit, once who must go has gone. `but`: who is not to go. */
  hasRoomFor(bytes: number, but: Key | null = null): boolean {
    const { limit, patienceMs, cut } = this.#options;
    if (this.#held + bytes <= limit) return true;
    const before = performance.now() - patienceMs;
    for (const [key, { since }] of this.#holders) {
      if (since > before) break; // and so are those that follow
      if (key === but || !cut(key)) continue;
      this.end(key);
      if (this.#held + bytes <= limit) return true;
    }
    return false;
  }
}
