/** What Node keeps of each piece in which bytes come, beside them: of a byte alone it is 300 times as much. */
export const PIECE_BYTES = 320;
/**
 * Bodies and messages that say they are no larger always have room: those of nearly all requests, so that
 * senders of large ones do not keep them out. MAX_CONNECTIONS bounds how many they are.
 */
export const SMALL_BYTES = 16 * 1024;

/** What holds bytes for a client that may never take or send the rest. */
interface Holder {
  bytes: number;
  /** `performance.now()` when it began. */
  readonly since: number;
  /** False where it is not the client's turn: then it stays. */
  readonly cut: () => boolean;
}

export interface ByteBudgetOptions {
  readonly limit: number;
  /** How long one may have held bytes before it is cut off to make room for others, in ms. */
  readonly patienceMs: number;
}

/**
 * Bytes that are held for many clients at once, at most `limit`. Where one more does not fit, those who
 * have been at it for longest are cut off: the quick are not to wait for the slow.
 */
export class ByteBudget<Key> {
  readonly #options: ByteBudgetOptions;
  readonly #holders = new Map<Key, Holder>();
  #held = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  has(key: Key): boolean {
    return this.#holders.has(key);
  }

  begin(key: Key, bytes: number, cut: Holder['cut']): void {
    this.#holders.set(key, { bytes, since: performance.now(), cut });
    this.#held += bytes;
  }

  /** More of one that has begun; of one that has ended, nothing. */
  add(key: Key, bytes: number): void {
    const holder = this.#holders.get(key);
    if (!holder) return;
    holder.bytes += bytes;
    this.#held += bytes;
  }

  end(key: Key): void {
    this.#held -= this.#holders.get(key)?.bytes ?? 0;
    this.#holders.delete(key);
  }

  /** Whether `bytes` more fit, once who must go has gone. `but`: who is not to go. */
  hasRoomFor(bytes: number, but: Key | null = null): boolean {
    const { limit, patienceMs } = this.#options;
    if (this.#held + bytes <= limit) return true;
    const before = performance.now() - patienceMs;
    for (const [key, { since, cut }] of this.#holders) {
      if (since > before) break; // and so are those that follow
      if (key === but || !cut()) continue;
      this.end(key);
      if (this.#held + bytes <= limit) return true;
    }
    return false;
  }
}
