/** Additions after which the map is copied: a constant, plus a number per entry. */
const LEAST_ADDITIONS = 64;
const ADDITIONS_PER_ENTRY = 4;

/**
 * A Map for short-lived keys, such as requests. V8 regularly replaces the hash table of a Map, and each old table
 * points to the next table. An old table in the old generation keeps all later tables and their values alive until a
 * major garbage collection (docs/project/evidence/event-loop.md). Copying the Map regularly breaks this chain.
 *
 * Iterators can return deleted entries and miss added entries.
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
