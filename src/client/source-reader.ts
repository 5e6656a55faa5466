export type AnySource<Element> = Iterable<Element> | AsyncIterable<Element>;

/** Reads an iterable on demand and closes it. */
export class SourceReader<Element> {
  readonly #source: AnySource<Element>;
  /** Null before the first read and after the end. */
  #iterator: Iterator<Element> | AsyncIterator<Element> | null = null;
  /** A call of `next()` is pending. */
  #isReading = false;

  /** @param elements plural noun for the error message @throws TypeError if `source` is not an iterable object */
  constructor(source: AnySource<Element>, elements: string) {
    // Excludes strings, which are iterable by character.
    const isSource = typeof source === 'object' && source !== null;
    if (!isSource || !(Symbol.asyncIterator in source || Symbol.iterator in source)) {
      throw new TypeError(`source: expected an iterable or an async iterable of ${elements}`);
    }
    this.#source = source;
  }

  /** @throws the error of the source, which is closed afterwards */
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

  /** Closes the source. Does not wait if a read is pending, because that read may never settle. */
  async close(): Promise<void> {
    const closing = Promise.resolve(this.#iterator?.return?.());
    if (this.#isReading) closing.catch(() => {});
    else await closing;
  }
}
