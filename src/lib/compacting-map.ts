/** So many additions, and so many for each entry that is there, until it is made anew. */
const LEAST_ADDITIONS = 64;
const ADDITIONS_PER_ENTRY = 4;

/**
 * A Map through which keys pass, as requests do. V8 makes a Map's table anew every few changes, and the former one
 * points to the next: once garbage collection has moved a table to the old space, all that follow stay alive, with
 * what they held, until it collects that too, and meanwhile it copies them (docs/evidence/event-loop.md). So the
 * Map itself is made anew now and then: to its table none points.
 *
 * Iterations see what is deleted meanwhile, and may miss what is added.
 */
export class CompactingMap<Key, Value> {
  #map = new Map<Key, Value>();
  #additions = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  set(key: Key, value: Value): void {
    if (++this.#additions > LEAST_ADDITIONS + ADDITIONS_PER_ENTRY * this.#map.size) {
      this.#additions = 0;
      this.#map = new Map(this.#map);
    }
    this.#map.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#map.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#map.keys();
  }

  values(): IterableIterator<Value> {
    return this.#map.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.#map[Symbol.iterator]();
  }
}
