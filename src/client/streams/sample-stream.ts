import { Changes } from '../../lib/condition-variable';
import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import { parsePosition } from '../../streaming/timeline';
import { addAbortListener, sleep, timeoutError, withTimeout } from '../abort-signals';
import { StreamError } from '../client-errors';
import { RETRIES } from '../pipeline-options';
import { isTemporary, withRetries } from '../retry';
import { type AnySource, SourceReader } from '../source-reader';
import { Arrivals } from './arrivals';
import { BROKEN, type Closing, Connection, messageOf, type SocketRoute } from './connection';
import { addInput } from './inputs';
import { openingOf, type StreamInput, type StreamOptions, type StreamResult } from './options';
import { UnackedBuffer } from './unacked-buffer';
import { WindowGrid } from './window-grid';

/** Windows whose answers have not been consumed, at most: the service keeps 256 for who comes back. */
const MOST_AHEAD = 128;
/** Samples that are taken from the source before they can be sent. */
const READ_AHEAD = 4096;
/** Bytes that have not gone out, from when on nothing is sent, and how long until that is looked at again, in ms. */
const MOST_UNSENT = 65_536;
const LOOK_MS = 5;
/** After how many windows the service is told that they have come. */
const TOLD_EACH = 32;
/** A connection that lasts for so long, in ms, is no attempt that failed, though nothing came of it. */
const LASTING_MS = 10_000;
/** How often a connection that is silent is looked at, in ms. */
const WATCH_MS = 1000;
/** See src/serving/session.ts. */
const CLOSE = { leaving: 1001, unknown: 4404, conflict: 4409 };

type Message = Partial<StreamOpened & WindowResult & GapNotice> & {
  readonly error?: { readonly detail: string };
  readonly end?: object;
};

/**
 * A signal through the service, whatever becomes of connections: source → what has been said → a WebSocket, or the
 * next one → answers. A broken connection is taken up again; where the service knows nothing of the stream any more,
 * or goes, the stream is opened anew from the first window that has not come.
 *
 * It rejects with what ends everything: the source's own error, the signal's reason, a stream that the service
 * refuses (ResponseError before it is opened, StreamError after), a service that is not there for longer than
 * `retries` and `retryForMs` allow. All answers before come first.
 */
export class SampleStream implements AsyncIterableIterator<StreamResult> {
  readonly #route: SocketRoute;
  readonly #source: SourceReader<StreamInput>;
  readonly #options: StreamOptions & { readonly timeoutMs: number };
  readonly #said: UnackedBuffer;
  readonly #arrivals: Arrivals;
  /** Aborted: nobody wants the answers any more. */
  readonly #stop = new AbortController();
  /** Of any of this. */
  readonly #changes = new Changes();
  #connection: Connection | null = null;
  /** By which the service knows the stream; null: it does not. */
  #id: string | null = null;
  /** What the service said of it on this connection. */
  #opened: StreamOpened | null = null;
  /** With which sample it went on at most, and whether it did so this time: former connections were of use. */
  #furthest = -1;
  #isFurther = false;
  /** Samples from the first one of a window to when it is complete, and from one to the next. */
  #span = 0;
  #step = 0;
  /** What the service says is wrong; null: nothing. */
  #problem: string | null = null;
  /** Nothing came though something was due. */
  #isSilent = false;
  /** Nothing more comes of the source; and the service has been told so on this connection. */
  #sourceEnd: { readonly failure?: unknown } | null = null;
  #isEndSent = false;
  /** The service has answered everything. */
  #hasEnded = false;
  #end: { readonly failure?: unknown } | null = null;
  readonly #outcomes = this.#run();

  /** @throws TypeError: the source or an option is none */
  constructor(
    route: SocketRoute,
    source: AnySource<StreamInput>,
    options: StreamOptions & { readonly timeoutMs: number },
  ) {
    const { start = 0, samplingRateHz, firstWindow = 0 } = options;
    const place = parsePosition(start);
    if (place === null) throw new TypeError(`start: expected a place, received ${String(start)}`);
    this.#route = route;
    this.#source = new SourceReader(source, 'samples');
    this.#options = options;
    this.#said = new UnackedBuffer(place, samplingRateHz, firstWindow);
    this.#arrivals = new Arrivals(this.#said, firstWindow);
  }

  next(): Promise<IteratorResult<StreamResult, undefined>> {
    return this.#outcomes.next();
  }

  /** A generator alone would first wait for the answer that is being waited for. */
  return(): Promise<IteratorResult<StreamResult, undefined>> {
    this.#leave();
    return this.#outcomes.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run(): AsyncGenerator<StreamResult, undefined> {
    const { signal } = this.#options;
    const forget = addAbortListener(signal, () => this.#leave());
    let hasThrown = false;
    try {
      signal?.throwIfAborted();
      this.#read().catch((failure) => this.#stopWith(failure));
      this.#talk().catch((failure) => this.#stopWith(failure));
      for (let next = await this.#nextAnswer(); next; next = await this.#nextAnswer()) {
        this.#changes.tell();
        yield next;
      }
      signal?.throwIfAborted();
    } catch (error) {
      hasThrown = true;
      throw error;
    } finally {
      forget();
      this.#leave();
      const closing = this.#source.close();
      await (hasThrown ? closing.catch(() => {}) : closing);
    }
  }

  /** Undefined: there are no more, or nobody wants them. @throws what ends everything */
  async #nextAnswer(): Promise<StreamResult | undefined> {
    for (; !this.#stop.signal.aborted; await this.#changes.next()) {
      const answer = this.#arrivals.shift();
      if (answer) return answer;
      if (this.#end && 'failure' in this.#end) throw this.#end.failure;
      if (this.#end) return undefined;
    }
    return undefined;
  }

  /** Ends the stream with an error that nothing else has handled. */
  #stopWith(failure: unknown): void {
    this.#end = { failure };
    this.#changes.tell();
  }

  #leave(): void {
    this.#stop.abort();
    this.#connection?.leave();
    this.#changes.tell();
  }

  async #read(): Promise<void> {
    try {
      for (let index = 0; !this.#stop.signal.aborted; ) {
        if (this.#said.unsent >= READ_AHEAD) {
          await this.#changes.next();
          continue;
        }
        const { done, value } = await this.#source.next();
        if (done) break;
        addInput(this.#said, value, `source[${index++}]`);
        this.#changes.tell();
      }
      this.#sourceEnd = {};
    } catch (failure) {
      this.#sourceEnd = { failure };
    }
    this.#changes.tell();
  }

  /** One connection after the other, until everything has been answered. */
  async #talk(): Promise<void> {
    const { signal } = this.#stop;
    try {
      while (!this.#hasEnded && !signal.aborted) {
        await withRetries(() => this.#converse(), { retries: RETRIES, ...this.#options, signal });
      }
      this.#end = this.#sourceEnd;
    } catch (failure) {
      this.#end = { failure };
    }
    this.#changes.tell();
  }

  /** On one connection, to its end. @throws why it ended, where nothing came of it */
  async #converse(): Promise<void> {
    const [next, startedAt] = [this.#arrivals.next, performance.now()];
    const { timeoutMs } = this.#options;
    const open = (signal: AbortSignal): Promise<Connection> => this.#open(signal);
    const connection = await withTimeout(this.#stop.signal, timeoutMs, open);
    const sending = this.#send(connection);
    const watch = setInterval(() => this.#watch(connection), WATCH_MS);
    const closing = await connection.closed;
    clearInterval(watch);
    this.#changes.tell();
    await sending;
    if (this.#hasEnded || this.#stop.signal.aborted) return;
    const { code } = closing;
    if (code === CLOSE.leaving) this.#id = null;
    const error = this.#errorOf(closing);
    const isLasting = performance.now() - startedAt > LASTING_MS && !this.#isSilent;
    const isOfUse = isLasting || this.#isFurther || this.#arrivals.next > next;
    if (!isOfUse || !isTemporary(error)) throw error;
  }

  /** @throws why the service did not take the stream up; the signal's reason */
  async #open(signal: AbortSignal): Promise<Connection> {
    this.#opened = null;
    this.#problem = null;
    this.#isSilent = false;
    const connection = new Connection(this.#route.connect(), (message) => this.#hear(message));
    this.#connection = connection;
    signal.addEventListener('abort', () => connection.leave());
    if (signal.aborted) connection.leave();
    connection.closed.then(() => this.#changes.tell()).catch(() => {}); // `closed` is never rejected
    const isOpen = await connection.opened;
    signal.throwIfAborted();
    if (!isOpen) throw await this.#route.refusal(signal);
    const isResumption = this.#id !== null;
    connection.send(this.#firstMessage());
    while (this.#opened === null && connection.isOpen) await this.#changes.next();
    signal.throwIfAborted();
    if (this.#opened !== null) {
      this.#options.onOpen?.(this.#opened);
      return connection;
    }
    const closing = await connection.closed;
    if (!isResumption || !(closing.code === CLOSE.unknown || closing.code === CLOSE.conflict)) {
      throw this.#errorOf(closing);
    }
    this.#id = null;
    return this.#open(signal);
  }

  #firstMessage(): object {
    if (this.#id !== null)
      return { resume: { stream: this.#id, next_window: this.#arrivals.next } };
    const { sample, place, window } = this.#said.beginAnew();
    this.#arrivals.offset = typeof place === 'number' ? 0 : sample;
    return { ...openingOf(this.#options), start: place, first_window: window };
  }

  /** At once: windows may follow in the same turn. */
  #takeUp(opened: StreamOpened): void {
    const { smoothing } = this.#options;
    const smoothed = smoothing && 'median' in smoothing ? smoothing.median - 1 : 0;
    const grid = new WindowGrid(opened, smoothed);
    this.#said.grid = grid;
    [this.#span, this.#step] = [grid.span, grid.step];
    this.#id = opened.stream;
    this.#isEndSent = false;
    this.#opened = this.#arrivals.goOn(opened);
    const { next_sample: sample } = this.#opened;
    this.#isFurther = sample > this.#furthest;
    this.#furthest = Math.max(sample, this.#furthest);
  }

  async #send(connection: Connection): Promise<void> {
    while (connection.isOpen) {
      if (connection.unsent > MOST_UNSENT) {
        await sleep(LOOK_MS, undefined);
        continue;
      }
      const room = this.#arrivals.consumed + this.#span + MOST_AHEAD * this.#step - this.#said.sent;
      const piece = this.#said.take(room);
      if (piece) connection.send(messageOf(piece, this.#options.format));
      else if (this.#sourceEnd && this.#said.isSent && !this.#isEndSent) {
        this.#isEndSent = true;
        connection.send({ end: true });
      } else await this.#changes.next();
    }
  }

  #hear(message: object): void {
    const { window, gap, end, stream, error } = message as Message;
    if (window !== undefined) this.#windowCame(message as WindowResult);
    else if (gap) this.#arrivals.addGap(gap);
    else if (stream !== undefined) this.#takeUp(message as StreamOpened);
    else if (error) this.#problem = error.detail;
    else if (end) {
      this.#hasEnded = true;
      this.#connection?.leave();
    }
    this.#changes.tell();
  }

  #windowCame(answer: WindowResult): void {
    const isNew = this.#arrivals.addWindow(answer);
    if (!isNew || this.#arrivals.next % TOLD_EACH !== 0) return;
    this.#connection?.send({ received: answer.window });
  }

  /** A window is due, or all of them, and nothing comes: the other side may be gone without a word. */
  #watch(connection: Connection): void {
    const isDue = this.#isEndSent || this.#said.sent >= this.#said.due + this.#span;
    if (!isDue) connection.heardAt = performance.now();
    if (performance.now() - connection.heardAt < this.#options.timeoutMs) return;
    this.#isSilent = true;
    connection.leave({ code: BROKEN, reason: '' });
  }

  #errorOf({ code, reason }: Closing): Error {
    if (this.#isSilent) return timeoutError(this.#options.timeoutMs);
    return new StreamError(code, this.#problem ?? (reason || 'The connection is broken.'));
  }
}
