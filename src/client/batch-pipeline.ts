import { Changes } from '../lib/condition-variable';
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

/** A route that takes lists of elements. */
export interface ListRoute<Element, Result> {
  /** The list's name in the body. */
  readonly field: string;
  /** JSON behind the list: nothing, or other fields after a comma. */
  readonly rest: string;
  /** What an element is in JSON. */
  readonly jsonOf: (element: Element) => unknown;
  readonly send: (body: string, options: CallOptions) => Promise<readonly Result[]>;
  readonly limits: (options: CallOptions) => Promise<ListLimits>;
}

/** As `GET /info` has them. */
export interface ListLimits {
  readonly body_bytes: number;
  readonly list_length: number;
}

/** How long elements wait for more of a slow source before they are sent. */
const LINGER_MS = 50;

const utf8 = new TextEncoder();
const bytesOf = (text: string): number => utf8.encode(text).length;

/** Elements that are sent together; at least one. */
interface List<Element, Result> {
  readonly items: ListItem<Element, Result>[];
  /** With the commas between them. */
  bytes: number;
  /** The last list alone grows; `failure`: what ends everything. */
  state: 'growing' | 'full' | 'sent' | 'answered' | { readonly failure: unknown };
  /** It has grown for long enough. */
  isDue: boolean;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Asks for every element of a source, several requests at a time, and gives their outcomes: source → the
 * list that grows → lists that wait for a request → requests under way → outcomes. The source is read only
 * as far ahead as `lookAhead` says; it is closed, and what is under way dropped, when it is left early.
 *
 * It rejects with what ends everything: the source's own error, the signal's reason, a service that is not
 * there or refuses for longer than `retries` and `retryForMs` allow, 401, 404, a model that is not loaded,
 * NoAnswerError where the service does not answer. All outcomes of elements before come first (with
 * `ordered: false`: of all requests that were answered).
 */
export class BatchPipeline<Element, Result>
  implements AsyncIterableIterator<Outcome<Element, Result>>
{
  readonly #route: ListRoute<Element, Result>;
  readonly #source: SourceReader<Element>;
  readonly #settings: AllSettings;
  readonly #request: ListRequest<Result>;
  /** Aborted: nobody wants the outcomes any more. */
  readonly #stop = new AbortController();
  /** Nothing more comes of the source. */
  #end: { readonly failure?: unknown } | null = null;
  /** Known before the first element is read. */
  #limits: ListLimits = { body_bytes: 0, list_length: 0 };
  #count = 0;
  /** Elements whose outcomes have not been consumed. */
  #held = 0;
  /** Whose outcomes have not been consumed, in the order of the source. */
  #lists: List<Element, Result>[] = [];
  /** Of any of this. */
  readonly #changes = new Changes();
  readonly #outcomes = this.#run();

  /** @throws TypeError, RangeError: the source or an option is none */
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

  /** A generator alone would first wait for the outcome that is being waited for. */
  return(): Promise<IteratorResult<Outcome<Element, Result>, undefined>> {
    this.#leave();
    return this.#outcomes.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run(): AsyncGenerator<Outcome<Element, Result>, undefined> {
    const { signal } = this.#settings;
    const onAbort = (): void => this.#leave();
    signal?.addEventListener('abort', onAbort);
    let hasThrown = false;
    try {
      signal?.throwIfAborted();
      this.#read().catch((failure) => {
        this.#end = { failure };
        this.#changes.tell();
      });
      for (let list = await this.#nextList(); list; list = await this.#nextList()) {
        for (const { outcome } of list.items) {
          this.#held--;
          this.#changes.tell();
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
      this.#leave();
      const closing = this.#source.close();
      await (hasThrown ? closing.catch(() => {}) : closing);
    }
  }

  #leave(): void {
    this.#stop.abort();
    for (const { timer } of this.#lists) clearTimeout(timer);
    this.#changes.tell();
  }

  /** Undefined: there are no more, or nobody wants them. @throws what ends everything */
  async #nextList(): Promise<List<Element, Result> | undefined> {
    for (; !this.#stop.signal.aborted; await this.#changes.next()) {
      const list = this.#deliverable();
      if (list && typeof list.state === 'object') throw this.#withPlace(list.state.failure);
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

  #deliverable(): List<Element, Result> | undefined {
    const hasEnded = ({ state }: List<Element, Result>): boolean =>
      state === 'answered' || typeof state === 'object';
    if (this.#settings.ordered) return this.#lists.slice(0, 1).find(hasEnded);
    const answered = this.#lists.find(({ state }) => state === 'answered');
    return answered ?? (this.#running() > 0 ? undefined : this.#lists.find(hasEnded));
  }

  #withPlace(failure: unknown): unknown {
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
    this.#sendSome();
    this.#changes.tell();
  }

  #add(input: Element): void {
    if (this.#stop.signal.aborted) return;
    this.#held++;
    const json = JSON.stringify(this.#route.jsonOf(input)) ?? 'null';
    const item: ListItem<Element, Result> = { index: this.#count++, input, json };
    const bytes = bytesOf(json) + 1;
    const room = this.#limits.body_bytes - bytesOf(this.#body([]));
    if (bytes > room) refuse(item, this.#route.field, this.#limits.body_bytes);
    let list = this.#lists.at(-1);
    if (list?.state === 'growing' && list.bytes + bytes > room) list.state = 'full';
    if (list?.state !== 'growing') list = this.#begin();
    list.items.push(item);
    list.bytes += bytes;
    const longest = Math.min(this.#settings.batchSize, this.#limits.list_length);
    if (list.items.length >= longest) list.state = 'full';
    this.#sendSome();
  }

  #begin(): List<Element, Result> {
    const timer = setTimeout(() => {
      list.isDue = true;
      this.#sendSome();
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

  #sendSome(): void {
    if (this.#stop.signal.aborted || this.#hasFailed()) return;
    while (this.#running() < this.#settings.concurrency) {
      const list = this.#lists.find(
        ({ state, isDue }) => state === 'full' || (state === 'growing' && (isDue || this.#end)),
      );
      if (!list) return;
      this.#send(list).catch((failure) => {
        list.state = { failure };
        this.#changes.tell();
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
      list.state = 'answered';
    } catch (failure) {
      list.state = { failure };
    }
    this.#sendSome();
    this.#changes.tell();
  }

  #running(): number {
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

/** Sent, it would be refused before it has been read, which a client may see as a broken connection. */
function refuse(item: ListItem<unknown, unknown>, field: string, limit: number): void {
  const { index, input } = item;
  const message = `${field}[${index}]: its body would be over the service's limit of ${limit} bytes`;
  item.outcome = { index, input, ok: false, error: new RangeError(message) };
}
