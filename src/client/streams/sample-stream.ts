import { ConditionVariable } from '../../lib/condition-variable';
import type { StreamOpened, WindowResult } from '../../streaming/stream-messages';
import { parsePosition } from '../../streaming/timeline';
import { addAbortListener, timeoutError, withTimeout } from '../abort-signals';
import { StreamError } from '../client-errors';
import { RETRIES } from '../pipeline-options';
import { isTemporary, withRetries } from '../retry';
import { type AnySource, SourceReader } from '../source-reader';
import {
  BROKEN,
  CLOSE,
  type Closing,
  Connection,
  encodeMessage,
  type Message,
  SILENCE_CHECK_MS,
  type SocketRoute,
} from './connection';
import { addInput } from './inputs';
import {
  type StreamInput,
  type StreamOptions,
  type StreamResult,
  toStreamOptions,
} from './options';
import { ReceivedResults } from './received-results';
import { UnackedBuffer } from './unacked-buffer';
import { WindowGrid } from './window-grid';

/** Maximum number of windows ahead of the caller: the server keeps 256 results for clients that resume. */
const MAX_WINDOWS_AHEAD = 128;
/** Maximum number of unsent samples that are read from the source. */
const READ_AHEAD = 4096;
/** Number of windows per acknowledgement. */
const ACK_INTERVAL = 32;
/** Duration after which a connection without results does not count as a failed attempt, in ms. */
const LASTING_MS = 10_000;
type Options = StreamOptions & { readonly timeoutMs: number };

/**
 * Results of a signal, across connections. Resumes the stream after a broken connection. If the server does not have
 * the stream any more, opens a new stream from the first window without a result.
 *
 * Iteration throws, after all earlier results: the source's error, the signal's reason, ResponseError or StreamError
 * if the server rejects the stream before or after it is opened, or the connection error when `retries` or
 * `retryForMs` are exceeded.
 */
export class SampleStream implements AsyncIterableIterator<StreamResult> {
  readonly #route: SocketRoute;
  readonly #source: SourceReader<StreamInput>;
  readonly #options: Options;
  readonly #buffer: UnackedBuffer;
  readonly #results: ReceivedResults;
  /** Aborted when the caller stops the iteration. */
  readonly #stop = new AbortController();
  /** Notified after each change of the fields below. */
  readonly #changes = new ConditionVariable();
  #connection: Connection | null = null;
  /** Server's stream id; null if the server does not have the stream. */
  #id: string | null = null;
  /** First response on the current connection. */
  #opened: StreamOpened | null = null;
  /** Highest sample number with which a connection has started, and whether the current connection has raised it. */
  #furthest = -1;
  #hasProgress = false;
  /** Span of a window and hop size, in samples. */
  #span = 0;
  #step = 0;
  /** Error message of the server; null if none. */
  #problem: string | null = null;
  /** Whether the connection was closed because a due result did not arrive. */
  #isSilent = false;
  /** End of the source; null before. */
  #sourceEnd: { readonly failure?: unknown } | null = null;
  /** Whether the end was sent on the current connection. */
  #isEndSent = false;
  /** Whether the server has sent all results. */
  #isComplete = false;
  /** End of the iteration; null before. */
  #end: { readonly failure?: unknown } | null = null;
  readonly #iterator = this.#run();

  /** @throws TypeError: the source or an option is invalid */
  constructor(route: SocketRoute, source: AnySource<StreamInput>, options: Options) {
    const { start = 0, samplingRateHz, firstWindow = 0 } = options;
    const position = parsePosition(start);
    if (position === null) {
      throw new TypeError(`start: expected a position, received ${String(start)}`);
    }
    this.#route = route;
    this.#source = new SourceReader(source, 'samples');
    this.#options = options;
    const width = options.channels?.length ?? 1;
    this.#buffer = new UnackedBuffer(position, samplingRateHz, firstWindow, width);
    this.#results = new ReceivedResults(this.#buffer, firstWindow);
  }

  next(): Promise<IteratorResult<StreamResult, undefined>> {
    return this.#iterator.next();
  }

  /** Stops at once; the generator alone would first wait for the pending result. */
  return(): Promise<IteratorResult<StreamResult, undefined>> {
    this.#abort();
    return this.#iterator.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#run(): AsyncGenerator<StreamResult, undefined> {
    const { signal } = this.#options;
    const forget = addAbortListener(signal, () => this.#abort());
    let hasThrown = false;
    try {
      signal?.throwIfAborted();
      this.#readSource().catch((failure) => this.#finish({ failure }));
      this.#connect().catch((failure) => this.#finish({ failure }));
      for (let next = await this.#nextResult(); next; next = await this.#nextResult()) {
        this.#changes.notify();
        yield next;
      }
      signal?.throwIfAborted();
    } catch (error) {
      hasThrown = true;
      throw error;
    } finally {
      forget();
      this.#abort();
      const closing = this.#source.close();
      await (hasThrown ? closing.catch(() => {}) : closing);
    }
  }

  /** Undefined after the last result, or if the caller has stopped. @throws the stream's failure */
  async #nextResult(): Promise<StreamResult | undefined> {
    for (; !this.#stop.signal.aborted; await this.#changes.next()) {
      const result = this.#results.shift();
      if (result) return result;
      if (this.#end && 'failure' in this.#end) throw this.#end.failure;
      if (this.#end) return undefined;
    }
    return undefined;
  }

  #finish(end: { readonly failure?: unknown } | null): void {
    this.#end = end;
    this.#changes.notify();
  }

  #abort(): void {
    this.#stop.abort();
    this.#connection?.close();
    this.#changes.notify();
  }

  async #readSource(): Promise<void> {
    try {
      for (let index = 0; !this.#stop.signal.aborted; ) {
        if (this.#buffer.unsent >= READ_AHEAD) {
          await this.#changes.next();
          continue;
        }
        const { done, value } = await this.#source.next();
        if (done) break;
        addInput(this.#buffer, value, `source[${index++}]`);
        this.#changes.notify();
      }
      this.#sourceEnd = {};
    } catch (failure) {
      this.#sourceEnd = { failure };
    }
    this.#changes.notify();
  }

  /** Opens connections, one after the other, until all results are received. */
  async #connect(): Promise<void> {
    const { signal } = this.#stop;
    try {
      while (!this.#isComplete && !signal.aborted) {
        const options = { retries: RETRIES, ...this.#options, signal };
        await withRetries(() => this.#useConnection(), options);
      }
      this.#finish(this.#sourceEnd);
    } catch (failure) {
      this.#finish({ failure });
    }
  }

  /** Uses one connection until it is closed. @throws why it was closed, if it made no progress */
  async #useConnection(): Promise<void> {
    const [next, startedAt] = [this.#results.next, performance.now()];
    const { timeoutMs } = this.#options;
    const open = (signal: AbortSignal): Promise<Connection> => this.#open(signal);
    const connection = await withTimeout(this.#stop.signal, timeoutMs, open);
    const sending = this.#send(connection);
    const watch = setInterval(() => this.#closeIfSilent(connection), SILENCE_CHECK_MS);
    const closing = await connection.closed;
    clearInterval(watch);
    this.#changes.notify();
    await sending;
    if (this.#isComplete || this.#stop.signal.aborted) return;
    if (closing.code === CLOSE.goingAway) this.#id = null;
    const error = this.#errorOf(closing);
    const isLasting = performance.now() - startedAt > LASTING_MS && !this.#isSilent;
    const hasProgress = isLasting || this.#hasProgress || this.#results.next > next;
    if (!hasProgress || !isTemporary(error)) throw error;
  }

  /** Opens or resumes the stream. @throws the server's error, or the signal's reason */
  async #open(signal: AbortSignal): Promise<Connection> {
    this.#opened = null;
    this.#problem = null;
    this.#isSilent = false;
    const connection = new Connection(this.#route.connect(), (message) => this.#receive(message));
    this.#connection = connection;
    signal.addEventListener('abort', () => connection.close());
    if (signal.aborted) connection.close();
    connection.closed.then(() => this.#changes.notify()).catch(() => {}); // Never rejects.
    const isOpen = await connection.opened;
    signal.throwIfAborted();
    if (!isOpen) throw await this.#route.findError(signal);
    const isResumption = this.#id !== null;
    connection.send(this.#firstMessage());
    while (this.#opened === null && connection.isOpen) await this.#changes.next();
    signal.throwIfAborted();
    if (this.#opened !== null) {
      this.#options.onOpen?.(this.#opened);
      return connection;
    }
    const closing = await connection.closed;
    if (!isResumption || !(closing.code === CLOSE.notFound || closing.code === CLOSE.conflict)) {
      throw this.#errorOf(closing);
    }
    this.#id = null;
    return this.#open(signal);
  }

  #firstMessage(): object {
    if (this.#id !== null) return { resume: { stream: this.#id, next_window: this.#results.next } };
    const { sample, position, window } = this.#buffer.restart();
    this.#results.offset = typeof position === 'number' ? 0 : sample;
    return { ...toStreamOptions(this.#options), start: position, first_window: window };
  }

  /** Synchronous, because results can follow in the same iteration of the event loop. */
  #onOpened(opened: StreamOpened): void {
    const { smoothing } = this.#options;
    const smoothed = smoothing && 'median' in smoothing ? smoothing.median - 1 : 0;
    const grid = new WindowGrid(opened, smoothed);
    this.#buffer.grid = grid;
    [this.#span, this.#step] = [grid.span, grid.step];
    this.#id = opened.stream;
    this.#isEndSent = false;
    this.#opened = this.#results.resumeFrom(opened);
    const { next_sample: sample } = this.#opened;
    this.#hasProgress = sample > this.#furthest;
    this.#furthest = Math.max(sample, this.#furthest);
  }

  async #send(connection: Connection): Promise<void> {
    while (await connection.untilWritable()) {
      const limit = this.#results.consumed + this.#span + MAX_WINDOWS_AHEAD * this.#step;
      const message = this.#buffer.take(limit - this.#buffer.sent);
      if (message) connection.send(encodeMessage(message, this.#options.format));
      else if (this.#sourceEnd && this.#buffer.isSent && !this.#isEndSent) {
        this.#isEndSent = true;
        connection.send({ end: true });
      } else await this.#changes.next();
    }
  }

  #receive(message: object): void {
    const { window, gap, end, stream, error } = message as Message;
    if (window !== undefined) {
      const isNew = this.#results.addWindow(message as WindowResult);
      const isAckDue = isNew && this.#results.next % ACK_INTERVAL === 0;
      if (isAckDue) this.#connection?.send({ received: window });
    } else if (gap) this.#results.addGap(gap);
    else if (stream !== undefined) this.#onOpened(message as StreamOpened);
    else if (error) this.#problem = error.detail;
    else if (end) {
      this.#isComplete = true;
      this.#connection?.close();
    }
    this.#changes.notify();
  }

  /** Closes a connection on which a result is due and no message arrives: it may be broken without a notice. */
  #closeIfSilent(connection: Connection): void {
    const isDue = this.#isEndSent || this.#buffer.sent >= this.#buffer.due + this.#span;
    if (!connection.isSilent(isDue, this.#options.timeoutMs)) return;
    this.#isSilent = true;
    connection.close({ code: BROKEN, reason: '' });
  }

  #errorOf({ code, reason }: Closing): Error {
    if (this.#isSilent) return timeoutError(this.#options.timeoutMs);
    return new StreamError(code, this.#problem ?? (reason || 'The connection is broken.'));
  }
}
