import { CompactingMap } from '../lib/compacting-map';

/** Memory overhead of Node for each received chunk, in bytes. */
export const PIECE_BYTES = 320;
/**
 * Bodies and messages of at most this declared length are always accepted, so that senders of large bodies do not keep
 * them out. MAX_CONNECTIONS limits their number.
 */
export const SMALL_BYTES = 16 * 1024;

/** Limits of request bodies and messages. */
export interface BodyLimits {
  /** BODY_MEMORY: bytes of all bodies being received. Compressed bodies and responses have the same limit each. */
  readonly bodyMemory: number;
  /** BODY_LIMIT: bytes of one body after decompression. */
  readonly bodyLimit: number;
}

/** Memory held for one client. */
interface Holder {
  bytes: number;
  /** `performance.now()` at the start. */
  readonly since: number;
}

export interface ByteBudgetOptions<Key> {
  readonly limit: number;
  /** Time after which a holder can be aborted to make room for others, in ms. */
  readonly holdTimeoutMs: number;
  /** Aborts a holder. False: the service has the next step, and the holder stays. */
  readonly abort: (key: Key) => boolean;
}

/**
 * Limits the memory that is held for many clients at once. If a further client does not fit, the holders that started
 * first are aborted, so that slow clients do not keep fast ones out.
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

  /** Adds bytes to a holder. False: it has ended, and nothing was added. */
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

  /**
   * Whether `bytes` more fit, after slow holders were aborted if necessary.
   *
   * @param spared holder that is not aborted
   */
  hasRoomFor(bytes: number, spared: Key | null = null): boolean {
    const { limit, holdTimeoutMs, abort } = this.#options;
    if (this.#held + bytes <= limit) return true;
    const before = performance.now() - holdTimeoutMs;
    for (const [key, { since }] of this.#holders) {
      if (since > before) break; // later holders are younger
      if (key === spared || !abort(key)) continue;
      this.end(key);
      if (this.#held + bytes <= limit) return true;
    }
    return false;
  }
}
