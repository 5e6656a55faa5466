import type { AllSettings, AllSource } from './all-options';
import { askList, type Item, type ListRequest, type Outcome } from './ask-list';
import { NoAnswerError } from './errors';
import { isTimeout, type RetryOptions } from './retry';

export interface CallSettings extends RetryOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** A route that takes lists. */
export interface ListRoute<Element, Result> {
  /** The list's name in the body. */
  readonly field: string;
  /** What stands in the body before the first element, and behind the last. */
  readonly body: readonly [head: string, tail: string];
  /** An element as JSON. */
  readonly encode: (element: Element) => string;
  readonly send: (body: string, options: CallSettings) => Promise<readonly Result[]>;
  readonly limits: (options: CallSettings) => Promise<ListLimits>;
}

/** As `GET /info` has them. */
export interface ListLimits {
  readonly body_bytes: number;
  readonly list_length: number;
}

const RETRIES = 20;
/** How long elements wait for more of a slow source before they are sent. */
const LINGER_MS = 50;

const utf8 = new TextEncoder();
const bytesOf = (text: string): number => utf8.encode(text).length;

/** Elements that are sent together. */
interface List<Element, Result> {
  readonly items: Item<Element, Result>[];
  /** With the commas between them. */
  bytes: number;
  /** `failure`: what ends everything. */
  end: { readonly failure: unknown } | 'answered' | null;
}

/** Source → the list that grows → lists that wait for a request → requests under way → outcomes. */
export class Flow<Element, Result> {
  readonly #route: ListRoute<Element, Result>;
  readonly #source: AllSource<Element>;
  readonly #settings: AllSettings;
  readonly #request: ListRequest<Result>;
  /** Aborted: nobody wants the outcomes any more. */
  readonly #stop = new AbortController();
  #iterator: Iterator<Element> | AsyncIterator<Element> | null = null;
  /** `next()` of the source has not come back. */
  #isReading = false;
  #hasEnded = false;
  #sourceFailure: { readonly error: unknown } | null = null;
  /** Known before the first element is read. */
  #limits: ListLimits = { body_bytes: 0, list_length: 0 };
  #count = 0;
  /** Elements whose outcomes have not been consumed. */
  #held = 0;
  #growing: List<Element, Result> | null = null;
  /** It has waited for long enough. */
  #isDue = false;
  #linger: ReturnType<typeof setTimeout> | undefined;
  #waiting: List<Element, Result>[] = [];
  /** Those that wait or are under way, and those answered, in the order of the source. */
  #lists: List<Element, Result>[] = [];
  #running = 0;
  #hasFailed = false;
  /** Who waits for any of this to change. */
  #waiters: (() => void)[] = [];

  constructor(
    route: ListRoute<Element, Result>,
    source: AllSource<Element>,
    settings: AllSettings,
  ) {
    this.#route = route;
    this.#source = source;
    this.#settings = settings;
    const { field, body, send } = route;
    const [head, tail] = body;
    this.#request = {
      field,
      send: (elements) => send(head + elements.join() + tail, this.#callSettings()),
      answered: null,
    };
  }

  async *outcomes(): AsyncGenerator<Outcome<Element, Result>, undefined> {
    const { signal } = this.#settings;
    const onAbort = (): void => this.leave();
    signal?.addEventListener('abort', onAbort);
    let hasThrown = false;
    try {
      signal?.throwIfAborted();
      void this.#read();
      for (let list = await this.#nextList(); list; list = await this.#nextList()) {
        for (const { outcome } of list.items) {
          this.#held--;
          this.#changed();
          if (outcome) yield outcome;
          if (this.#stop.signal.aborted) break;
        }
      }
      signal?.throwIfAborted();
    } catch (error) {
      hasThrown = true;
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.leave();
      const closing = this.#closeSource();
      await (hasThrown ? closing.catch(() => {}) : closing);
    }
  }

  leave(): void {
    this.#stop.abort();
    clearTimeout(this.#linger);
    this.#changed();
  }

  /** Undefined: there are no more, or nobody wants them. @throws what ends everything */
  async #nextList(): Promise<List<Element, Result> | undefined> {
    for (;;) {
      if (this.#stop.signal.aborted) return undefined;
      const at = this.#deliverable();
      const [list] = at === -1 ? [] : this.#lists.splice(at, 1);
      if (typeof list?.end === 'object') throw this.#withPlace(list, list.end?.failure);
      if (list) return list;
      if (this.#hasEnded && this.#lists.length === 0 && !this.#growing) {
        if (this.#sourceFailure) throw this.#sourceFailure.error;
        return undefined;
      }
      await this.#change();
    }
  }

  /** @param list the first one that failed; it is no longer among `#lists` */
  #withPlace(list: List<Element, Result>, failure: unknown): unknown {
    if (!isTimeout(failure)) return failure;
    const firsts = [list, ...this.#lists].map(({ items }) => items[0]?.index ?? this.#count);
    return new NoAnswerError(Math.min(...firsts), failure);
  }

  #deliverable(): number {
    const [first] = this.#lists;
    if (this.#settings.ordered) return first?.end ? 0 : -1;
    const answered = this.#lists.findIndex(({ end }) => end === 'answered');
    if (answered !== -1 || this.#running > 0) return answered;
    return this.#lists.findIndex(({ end }) => end !== null);
  }

  async #read(): Promise<void> {
    try {
      this.#limits = await this.#route.limits(this.#callSettings()).catch((error: unknown) => {
        throw isTimeout(error) ? new NoAnswerError(0, error) : error;
      });
      const source = this.#source;
      const iterator =
        Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
      this.#iterator = iterator;
      while (!this.#stop.signal.aborted && !this.#hasFailed) {
        if (this.#held >= this.#settings.lookAhead) {
          await this.#change();
          continue;
        }
        this.#isReading = true;
        const { done, value } = await iterator.next();
        this.#isReading = false;
        if (done) {
          this.#iterator = null;
          break;
        }
        this.#add(value);
      }
    } catch (error) {
      if (this.#isReading) this.#iterator = null; // it has closed itself
      this.#sourceFailure = { error };
    }
    this.#hasEnded = true;
    this.#isDue = true;
    this.#sendSome();
    this.#changed();
  }

  #add(input: Element): void {
    if (this.#stop.signal.aborted) return;
    this.#held++;
    const item: Item<Element, Result> = {
      index: this.#count++,
      input,
      json: this.#route.encode(input),
    };
    const bytes = bytesOf(item.json) + 1;
    const room = this.#limits.body_bytes - bytesOf(this.#route.body.join(''));
    if (bytes > room) refuse(item, this.#route.field, this.#limits.body_bytes);
    if (this.#growing && this.#growing.bytes + bytes > room) this.#closeList();
    if (!this.#growing) {
      this.#growing = { items: [], bytes: 0, end: null };
      this.#linger = setTimeout(() => {
        this.#isDue = true;
        this.#sendSome();
      }, LINGER_MS);
    }
    this.#growing.items.push(item);
    this.#growing.bytes += bytes;
    const longest = Math.min(this.#settings.batchSize, this.#limits.list_length);
    if (this.#growing.items.length >= longest) this.#closeList();
    this.#sendSome();
  }

  #closeList(): void {
    if (!this.#growing) return;
    clearTimeout(this.#linger);
    this.#isDue = this.#hasEnded;
    this.#waiting.push(this.#growing);
    this.#lists.push(this.#growing);
    this.#growing = null;
  }

  #sendSome(): void {
    while (this.#running < this.#settings.concurrency) {
      if (this.#stop.signal.aborted || this.#hasFailed) return;
      if (this.#waiting.length === 0 && this.#isDue) this.#closeList();
      const list = this.#waiting.shift();
      if (!list) return;
      this.#running++;
      void this.#send(list);
    }
  }

  async #send(list: List<Element, Result>): Promise<void> {
    try {
      await askList(
        list.items.filter(({ outcome }) => outcome === undefined),
        this.#request,
      );
      list.end = 'answered';
    } catch (failure) {
      this.#hasFailed = true;
      list.end = { failure };
    }
    this.#running--;
    this.#sendSome();
    this.#changed();
  }

  #callSettings(): CallSettings {
    const { retries = RETRIES, retryForMs, onRetry, timeoutMs } = this.#settings;
    return {
      signal: this.#stop.signal,
      retries,
      ...(retryForMs !== undefined && { retryForMs }),
      ...(onRetry && { onRetry }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
  }

  /** A source that is just being read closes itself when that ends, which may be never. */
  async #closeSource(): Promise<void> {
    const closing = Promise.resolve(this.#iterator?.return?.());
    if (this.#isReading) closing.catch(() => {});
    else await closing;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  #changed(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

/** Sent, it would be refused before it has been read, which a client may see as a broken connection. */
function refuse(item: Item<unknown, unknown>, field: string, limit: number): void {
  const { index, input } = item;
  const message = `${field}[${index}]: its body would be over the service's limit of ${limit} bytes`;
  item.outcome = { index, input, ok: false, error: new RangeError(message) };
}
