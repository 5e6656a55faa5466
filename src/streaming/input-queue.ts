import type { Peer } from '../serving/session';
import type { Place } from './timeline';

/** What a client says of its signal. */
export type Item =
  | {
      readonly type: 'samples';
      readonly samples: Float64Array;
      /** Of those that have not been taken. */
      offset: number;
      /** `performance.now()` when they came. */
      readonly at: number;
    }
  /** So many are missing. */
  | { readonly type: 'gap'; readonly samples: number }
  /** Of the next sample. */
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'end' };

/** Of an item without its samples, as it waits. */
const ITEM_BYTES = 128;

/** Bytes that an item with so many samples takes. */
export function itemBytes(samples = 0): number {
  return ITEM_BYTES + samples * Float64Array.BYTES_PER_ELEMENT;
}

function bytesOf(item: Item): number {
  return itemBytes(item.type === 'samples' ? item.samples.length : 0);
}

/** What has come of a stream and waits for its turn; whoever sends it is slowed where that is too much. */
export class Waiting {
  readonly #held: (bytes: number) => void;
  readonly #onTaken: (() => void)[] = [];
  #items: Item[] = [];
  #bytes = 0;
  #peer: Peer | null;
  #isSlow = false;

  /** @param held is told of bytes more, or fewer */
  constructor(peer: Peer, held: (bytes: number) => void) {
    this.#peer = peer;
    this.#held = held;
  }

  get length(): number {
    return this.#items.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  get hasEnd(): boolean {
    return this.#items.at(-1)?.type === 'end';
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#hold(bytesOf(item));
  }

  /** The first one has been done. */
  shift(): void {
    const item = this.#items.shift();
    if (item) this.#hold(-bytesOf(item));
  }

  clear(): void {
    this.#items = [];
    this.#hold(-this.#bytes);
  }

  /** Tells the client to send nothing, or to go on. */
  slow(isSlow: boolean): void {
    if (isSlow === this.#isSlow) return;
    this.#isSlow = isSlow;
    if (isSlow) {
      this.#peer?.pause();
      return;
    }
    this.#peer?.resume();
    this.#tellTaken();
  }

  /** Resolves when the client may go on. */
  taken(): Promise<void> {
    if (!this.#isSlow) return Promise.resolve();
    return new Promise((resolve) => this.#onTaken.push(resolve));
  }

  attach(peer: Peer): void {
    this.#peer = peer;
  }

  detach(): void {
    this.#peer = null;
    this.#isSlow = false;
    this.clear();
    this.#tellTaken();
  }

  #hold(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#held(bytes);
  }

  #tellTaken(): void {
    for (const tell of this.#onTaken.splice(0)) tell();
  }
}
