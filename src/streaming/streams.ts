import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { type StreamEnd, StreamMetrics } from '../serving/metrics/stream-metrics';
import {
  CLOSE,
  type CloseCode,
  type Peer,
  runInSession,
  type SessionHandler,
} from '../serving/session';
import type { SignalClassifier } from '../tasks/capabilities';
import { SessionTimeouts } from './session-timeouts';
import { SignalStream } from './signal-stream';
import type { StreamHost, StreamModel } from './stream-host';
import { StreamMemory, type StreamSize, sizeOf } from './stream-memory';
import type { StreamOptions } from './stream-messages';
import { TimeSlices } from './time-slices';
import { WindowQueue } from './window-queue';
import type { WindowCounter } from './window-results';

/** Time in which a client can resume a disconnected stream, in ms. */
const RESUME_MS = 60_000;
const CHECK_INTERVAL_MS = 1000;
/** Maximum time for clients to close their connections at shutdown, in ms. */
const SHUTDOWN_MS = 2000;

interface Limits {
  /** Maximum memory of all streams, in bytes. */
  readonly bodyMemory: number;
  readonly requestTimeoutMs: number;
}

/** Metric label by close code; 'error' for other codes. */
const ENDS: Partial<Record<CloseCode, StreamEnd>> = {
  [CLOSE.NORMAL]: 'ended',
  [CLOSE.GOING_AWAY]: 'leaving',
  [CLOSE.TIMEOUT]: 'timeout',
};

/** Connection of a client, as the registry uses it (see `StreamSession`). */
export interface Session extends SessionHandler {
  readonly requestId: string;
  /** `performance.now()` at the start. */
  readonly startedAt: number;
  /** `performance.now()` at the last message of the client. */
  readonly lastMessageAt: number;
  /** Null before the first message. */
  readonly record: StreamRecord | null;
  /** Handles a message of POST /stream/ID. @returns the cursor @throws SessionError */
  post(message: unknown): Promise<SignalStream['cursor']>;
  setIdle(isIdle: boolean): void;
  fail(code: CloseCode, detail: string): void;
  /** Closes the session because another connection has resumed its stream. */
  supersede(): void;
  /** Closes the session after the windows in inference. */
  drain(): void;
  /** Closes the session at once, with the stream's cursor as the reason. */
  goAway(): void;
  /** Ends the session after the end of its stream. */
  end(): void;
}

/** Registry of the process's streams, for all models and transports. */
export class Streams {
  readonly metrics = new StreamMetrics();
  readonly timeSlices = new TimeSlices();
  readonly timeouts = new SessionTimeouts();
  readonly memory: StreamMemory;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
  readonly #records = new Map<string, StreamRecord>();
  /** Sessions with an open connection. */
  readonly #sessions = new Set<Session>();
  /** Disconnected streams, oldest disconnect first. */
  readonly #disconnected = new Set<StreamRecord>();
  readonly #queues = new WeakMap<SignalClassifier, WindowQueue>();
  #timer: NodeJS.Timeout | null = null;
  #onEmpty: (() => void) | null = null;

  constructor({ bodyMemory, requestTimeoutMs }: Limits, logger: Logger) {
    this.memory = new StreamMemory(bodyMemory);
    this.requestTimeoutMs = requestTimeoutMs;
    this.logger = logger;
    this.metrics.open = () => this.#records.size;
  }

  /** The queue that all streams of a model share. */
  queueOf(model: SignalClassifier): WindowQueue {
    const queue = this.#queues.get(model) ?? new WindowQueue(model);
    this.#queues.set(model, queue);
    return queue;
  }

  /** Registers a new connection. */
  addSession(session: Session): void {
    this.#sessions.add(session);
    this.timeouts.add(session);
    this.#timer ??= setInterval(this.#check, CHECK_INTERVAL_MS).unref();
  }

  /** Unregisters a closed connection. */
  removeSession(session: Session): void {
    this.#sessions.delete(session);
    this.timeouts.remove(session);
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }

  /** Opens a stream; null if there is not enough memory. */
  open(
    session: Session,
    owner: string,
    {
      model,
      options,
      peer,
    }: {
      readonly model: StreamModel;
      readonly options: StreamOptions;
      readonly peer: Peer;
    },
  ): StreamRecord | null {
    const size = sizeOf(model, options);
    if (!this.memory.reserve(size, (bytes) => this.makeRoom(bytes))) return null;
    try {
      const record = new StreamRecord(this, { owner, size, session });
      record.stream = new SignalStream(model, options, peer, record);
      this.#records.set(record.id, record);
      this.timeouts.onFirstMessage(session);
      this.metrics.opened++;
      return record;
    } catch (error) {
      this.memory.release(size);
      throw error;
    }
  }

  /** Finds a stream of the same owner, and of the model in the path; null if none. */
  find(id: string, owner: string, model: string): StreamRecord | null {
    const record = this.#records.get(id);
    if (!record || record.stream.model.name !== model) return null;
    const [a, b] = [Buffer.from(record.owner), Buffer.from(owner)];
    return a.length === b.length && timingSafeEqual(a, b) ? record : null;
  }

  /** Moves a stream to another session. Closes its previous session, whose connection may seem open. */
  resume(record: StreamRecord, session: Session): void {
    const previous = record.session;
    if (previous) {
      record.session = null;
      record.stream.detach();
      previous.supersede();
    }
    record.session = session;
    this.#disconnected.delete(record);
    this.timeouts.onFirstMessage(session);
    this.metrics.resumed++;
  }

  /** Keeps the stream of a broken connection, to be resumed. */
  disconnect(record: StreamRecord): void {
    if (!this.#has(record)) return;
    record.session = null;
    record.disconnectedAt = performance.now();
    record.stream.detach();
    this.#disconnected.add(record);
  }

  /** Ends the stream of a session that is being closed, or keeps the stream to be resumed. */
  onClosing(session: Session, code: CloseCode): void {
    const { record } = session;
    this.timeouts.onFirstMessage(session);
    if (!record || record.session !== session) return;
    if (code === CLOSE.TIMEOUT || code === CLOSE.TRY_LATER) this.disconnect(record);
    else this.remove(record, ENDS[code] ?? 'error');
  }

  logError({ requestId }: Pick<Session, 'requestId'>, error: unknown): void {
    this.logger.error({ requestId, err: error }, 'stream failed');
  }

  /** Closes all sessions for shutdown. Resolves when the clients have closed their connections, or after a timeout. */
  async close(): Promise<void> {
    for (const session of [...this.#sessions]) runInSession(session, () => session.drain());
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      setTimeout(resolve, SHUTDOWN_MS).unref();
    });
  }

  /** Removes disconnected streams, oldest first, until the bytes fit. @returns false if they do not fit */
  makeRoom(bytes: number): boolean {
    for (const record of this.#disconnected) {
      if (this.memory.fits(bytes)) break;
      this.remove(record, 'broken');
    }
    return this.memory.fits(bytes);
  }

  remove(record: StreamRecord, end: StreamEnd): void {
    if (!this.#has(record)) return;
    const { stream, requestId } = record;
    stream.close();
    record.session = null;
    this.#records.delete(record.id);
    this.#disconnected.delete(record);
    this.memory.release(record.size);
    this.metrics.ended(end);
    const durationMs = Math.round(performance.now() - record.openedAt);
    const { windows, skipped } = stream.counts;
    const model = stream.model.name;
    this.logger.info({ requestId, model, end, windows, skipped, durationMs }, 'stream');
  }

  #has(record: StreamRecord): boolean {
    return this.#records.get(record.id) === record;
  }

  readonly #check = (): void => {
    this.timeouts.check();
    const now = performance.now();
    for (const record of this.#disconnected) {
      if (now - record.disconnectedAt < RESUME_MS) break;
      this.remove(record, 'broken');
    }
    if (this.#sessions.size > 0 || this.#disconnected.size > 0 || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = null;
  };
}

/** A registered stream and its session. */
export class StreamRecord implements StreamHost {
  /** Unguessable. */
  readonly id = randomBytes(18).toString('base64url');
  /** Owner of the API key that opened the stream; only this owner can resume it. */
  readonly owner: string;
  readonly size: StreamSize;
  /** `performance.now()`. */
  readonly openedAt = performance.now();
  /** Request id of the first connection. */
  readonly requestId: string;
  stream!: SignalStream;
  /** Null while disconnected. */
  session: Session | null;
  /** `performance.now()` at the last disconnect. */
  disconnectedAt = 0;
  readonly requestTimeoutMs: number;
  readonly timeSlices: TimeSlices;
  readonly counter: WindowCounter;
  readonly #streams: Streams;

  constructor(
    streams: Streams,
    { owner, size, session }: Pick<StreamRecord, 'owner' | 'size'> & { readonly session: Session },
  ) {
    this.#streams = streams;
    this.requestTimeoutMs = streams.requestTimeoutMs;
    this.timeSlices = streams.timeSlices;
    this.counter = streams.metrics;
    this.owner = owner;
    this.size = size;
    this.session = session;
    this.requestId = session.requestId;
  }

  addBytes(bytes: number): void {
    this.#streams.memory.add(bytes);
  }

  onBlocked(): void {
    if (this.session) this.#streams.timeouts.onBlocked(this.session);
  }

  onEnd(): void {
    this.session?.end();
  }

  onModelUnload(): void {
    if (this.session) this.session.goAway();
    else this.#streams.remove(this, 'leaving');
  }

  onInvalidInput(message: string): void {
    this.session?.fail(CLOSE.INVALID, message);
  }

  onError(error: unknown): void {
    if (this.session) this.session.onError(error);
    else {
      this.#streams.logError(this, error);
      this.#streams.remove(this, 'error');
    }
  }
}
