import { ConditionVariable } from '../lib/condition-variable';
import { NoAnswerError } from './client-errors';
import { type ListItem, type ListRequest, type Outcome, sendList } from './list-request';
import {
  type AllOptions,
  type AllSettings,
  type AllSource,
  withDefaults,
} from './pipeline-options';
import { type CallOptions, isTimeout } from './retry';
import { SourceReader } from './source-reader';

/** Route for lists of elements. */
export interface ListRoute<Element, Result> {
  /** Name of the list in the body. */
  readonly field: string;
  /** JSON after the list: empty, or further fields with a leading comma. */
  readonly rest: string;
  /** Converts an element to a JSON value. */
  readonly toJson: (element: Element) => unknown;
  readonly send: (body: string, options: CallOptions) => Promise<readonly Result[]>;
  readonly limits: (options: CallOptions) => Promise<ListLimits>;
}

/** Limits of the server, from `GET /info`. */
export interface ListLimits {
  readonly body_bytes: number;
  readonly list_length: number;
}

/** Maximum delay of an element from a slow source before its list is sent. */
const LINGER_MS = 50;

const utf8 = new TextEncoder();
const bytesOf = (text: string): number => utf8.encode(text).length;

/** Non-empty list of elements for one request. */
interface List<Element, Result> {
  readonly items: ListItem<Element, Result>[];
  /** Size in the body, including commas. */
  bytes: number;
  /** Only the last list is `growing`. `failure` is an error that ends the pipeline. */
  state: 'growing' | 'full' | 'sent' | 'done' | { readonly failure: unknown };
  /** LINGER_MS have passed since the first element. */
  isDue: boolean;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Iterator over the outcomes of all elements of a source, with several concurrent requests: source → growing list →
 * full lists → requests in flight → outcomes. `lookAhead` bounds how far the source is read ahead. Leaving the loop
 * early closes the source and cancels requests in flight.
 *
 * Rejects with the first error that concerns no element: error of the source, reason of the signal, server unreachable
 * or rejecting for longer than `retries` and `retryForMs` allow, 401, 404, model not loaded, NoAnswerError if the server
 * does not respond. Yields the outcomes of earlier elements first (with `ordered: false`, all outcomes received).
 */
export class BatchPipeline<Element, Result>
  implements AsyncIterableIterator<Outcome<Element, Result>>
{
  readonly #route: ListRoute<Element, Result>;
  readonly #source: SourceReader<Element>;
  readonly #settings: AllSettings;
  readonly #request: ListRequest<Result>;
  /** Aborted when the iterator is closed. */
  readonly #stop = new AbortController();
  /** Set when the source has ended or failed. */
  #end: { readonly failure?: unknown } | null = null;
  /** Set before the first element is read. */
  #limits: ListLimits = { body_bytes: 0, list_length: 0 };
  #count = 0;
  /** Number of elements read whose outcomes have not been consumed. */
  #held = 0;
  /** Lists whose outcomes have not been consumed, in the order of the source. */
  #lists: List<Element, Result>[] = [];
  /** Notified after each change of the state above. */
  readonly #changes = new ConditionVariable();
  readonly #outcomes = this.#run();

  /** @throws TypeError or RangeError if the source or an option is invalid */
  constructor(route: ListRoute<Element, Result>, source: AllSource<Element>, options: AllOptions) {
    this.#source = new SourceReader(source, 'elements');
    this.#route = route;
    this.#settings = withDefaults(options);
    this.#request = {
      field: route.field,
      send: (elements) => route.send(this.#body(elements), this.#callOptions()),
      lastAnswered: null,
    };
  }

  next(): Promise<IteratorResult<Outcome<Element, Result>, undefined>> {
    return this.#outcomes.next();
  }

  /** Closes the iterator at once; `return` of a generator waits for a pending `next`. */
  return(): Promise<IteratorResult<Outcome<Element, Result>, undefined>> {
    this.#close();
    return this.#outcomes.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run(): AsyncGenerator<Outcome<Element, Result>, undefined> {
    const { signal } = this.#settings;
    const onAbort = (): void => this.#close();
    signal?.addEventListener('abort', onAbort);
    let hasThrown = false;
    try {
      signal?.throwIfAborted();
      this.#read().catch((failure) => {
        this.#end = { failure };
        this.#changes.notify();
      });
      for (let list = await this.#nextList(); list; list = await this.#nextList()) {
        for (const { outcome } of list.items) {
          this.#held--;
          this.#changes.notify();
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
      this.#close();
      const closing = this.#source.close();
      await (hasThrown ? closing.catch(() => {}) : closing);
    }
  }

  #close(): void {
    this.#stop.abort();
    for (const { timer } of this.#lists) clearTimeout(timer);
    this.#changes.notify();
  }

  /** Returns the next list to yield; undefined at the end. @throws the error that ends the pipeline */
  async #nextList(): Promise<List<Element, Result> | undefined> {
    for (; !this.#stop.signal.aborted; await this.#changes.next()) {
      const list = this.#nextFinished();
      if (list && typeof list.state === 'object') throw this.#withPosition(list.state.failure);
      if (list) {
        this.#lists.splice(this.#lists.indexOf(list), 1);
        return list;
      }
      if (this.#end && this.#lists.length === 0) {
        if ('failure' in this.#end) throw this.#end.failure;
        return undefined;
      }
    }
    return undefined;
  }

  #nextFinished(): List<Element, Result> | undefined {
    const isFinished = ({ state }: List<Element, Result>): boolean =>
      state === 'done' || typeof state === 'object';
    if (this.#settings.ordered) return this.#lists.slice(0, 1).find(isFinished);
    const done = this.#lists.find(({ state }) => state === 'done');
    return done ?? (this.#inFlight() > 0 ? undefined : this.#lists.find(isFinished));
  }

  #withPosition(failure: unknown): unknown {
    if (!isTimeout(failure)) return failure;
    return new NoAnswerError(this.#lists[0]?.items[0]?.index ?? this.#count, failure);
  }

  async #read(): Promise<void> {
    try {
      this.#limits = await this.#route.limits(this.#callOptions()).catch((error: unknown) => {
        throw isTimeout(error) ? new NoAnswerError(0, error) : error;
      });
      while (!this.#stop.signal.aborted && !this.#hasFailed()) {
        if (this.#held >= this.#settings.lookAhead) {
          await this.#changes.next();
          continue;
        }
        const { done, value } = await this.#source.next();
        if (done) break;
        this.#add(value);
      }
      this.#end = {};
    } catch (failure) {
      this.#end = { failure };
    }
    this.#sendLists();
    this.#changes.notify();
  }

  #add(input: Element): void {
    if (this.#stop.signal.aborted) return;
    this.#held++;
    const json = JSON.stringify(this.#route.toJson(input)) ?? 'null';
    const item: ListItem<Element, Result> = { index: this.#count++, input, json };
    const bytes = bytesOf(json) + 1;
    const room = this.#limits.body_bytes - bytesOf(this.#body([]));
    if (bytes > room) rejectTooLarge(item, this.#route.field, this.#limits.body_bytes);
    let list = this.#lists.at(-1);
    if (list?.state === 'growing' && list.bytes + bytes > room) list.state = 'full';
    if (list?.state !== 'growing') list = this.#startList();
    list.items.push(item);
    list.bytes += bytes;
    const maxLength = Math.min(this.#settings.batchSize, this.#limits.list_length);
    if (list.items.length >= maxLength) list.state = 'full';
    this.#sendLists();
  }

  #startList(): List<Element, Result> {
    const timer = setTimeout(() => {
      list.isDue = true;
      this.#sendLists();
    }, LINGER_MS);
    const list: List<Element, Result> = {
      items: [],
      bytes: 0,
      state: 'growing',
      isDue: false,
      timer,
    };
    this.#lists.push(list);
    return list;
  }

  #sendLists(): void {
    if (this.#stop.signal.aborted || this.#hasFailed()) return;
    while (this.#inFlight() < this.#settings.concurrency) {
      const list = this.#lists.find(
        ({ state, isDue }) => state === 'full' || (state === 'growing' && (isDue || this.#end)),
      );
      if (!list) return;
      this.#send(list).catch((failure) => {
        list.state = { failure };
        this.#changes.notify();
      });
    }
  }

  async #send(list: List<Element, Result>): Promise<void> {
    list.state = 'sent';
    clearTimeout(list.timer);
    try {
      await sendList(
        list.items.filter(({ outcome }) => outcome === undefined),
        this.#request,
      );
      list.state = 'done';
    } catch (failure) {
      list.state = { failure };
    }
    this.#sendLists();
    this.#changes.notify();
  }

  #inFlight(): number {
    return this.#lists.filter(({ state }) => state === 'sent').length;
  }

  #hasFailed(): boolean {
    return this.#lists.some(({ state }) => typeof state === 'object');
  }

  #body(elements: readonly string[]): string {
    return `{"${this.#route.field}":[${elements.join()}]${this.#route.rest}}`;
  }

  #callOptions(): CallOptions {
    return { ...this.#settings, signal: this.#stop.signal };
  }
}

/** Rejects an element locally: for a body over the limit, the server may close the connection before its response. */
function rejectTooLarge(item: ListItem<unknown, unknown>, field: string, limit: number): void {
  const { index, input } = item;
  const message = `${field}[${index}]: the request body exceeds the server's limit of ${limit} bytes`;
  item.outcome = { index, input, ok: false, error: new RangeError(message) };
}
