export type AnySource<Element> = Iterable<Element> | AsyncIterable<Element>;

/** An iterable that is read as far as there is room, and closed when nobody wants more of it. */
export class SourceReader<Element> {
  readonly #source: AnySource<Element>;
  /** Null: it has not been asked for yet, or has closed itself. */
  #iterator: Iterator<Element> | AsyncIterator<Element> | null = null;
  /** `next()` has not come back. */
  #isReading = false;

  /** @param of what it is, for the error @throws TypeError: it is none */
  constructor(source: AnySource<Element>, of: string) {
    // A string would be iterable, too, of its characters.
    const isSource = typeof source === 'object' && source !== null;
    if (!isSource || !(Symbol.asyncIterator in source || Symbol.iterator in source)) {
      throw new TypeError(`source: expected an iterable or an async iterable of ${of}`);
    }
    this.#source = source;
  }

  /** @throws what the source throws, which has closed itself then */
  async next(): Promise<IteratorResult<Element>> {
    const source = this.#source;
    this.#iterator ??=
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#isReading = true;
    try {
      const result = await this.#iterator.next();
      if (result.done) this.#iterator = null;
      return result;
    } catch (error) {
      this.#iterator = null;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** A source that is just being read closes itself when that ends, which may be never. */
  async close(): Promise<void> {
    const closing = Promise.resolve(this.#iterator?.return?.());
    if (this.#isReading) closing.catch(() => {});
    else await closing;
  }
}
