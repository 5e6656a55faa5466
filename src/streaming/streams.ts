import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { type StreamEnd, StreamMetrics } from '../serving/metrics/stream-metrics';
import { CLOSE, type CloseCode } from '../serving/session';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';
import type { SignalClassifier } from '../tasks/abilities';
import { RefCountedBytes } from './ref-counted-bytes';
import type { SignalStream, Watcher } from './signal-stream';
import type { StreamMemory } from './stream-memory';
import type { Claim, Reply, Session, StreamRecord } from './stream-types';
import { Turns } from './time-slices';
import { WindowQueue } from './window-queue';

/** How long a stream whose connection is broken may be taken up again, in ms. */
const RESUME_MS = 60_000;
/** How long the first message of a conversation may take, in ms. */
const OPENING_MS = 10_000;
/** After how long in which its client said nothing a connection may make room for another one, in ms. */
const QUIET_MS = 30_000;
/** How often those who are late are looked for, in ms. */
const LOOK_MS = 1000;
/** How long clients may take to close their connections when the service is shutting down, in ms. */
const LAST_MS = 2000;

interface Limits {
  readonly bodyMemory: number;
  readonly requestTimeoutMs: number;
}

const ENDS: Partial<Record<CloseCode, StreamEnd>> = {
  [CLOSE.NORMAL]: 'ended',
  [CLOSE.GOING_AWAY]: 'leaving',
  [CLOSE.TIMEOUT]: 'timeout',
};

/** All streams of the process, of all models and transports. */
export class Streams {
  readonly watcher: Watcher;
  readonly metrics = new StreamMetrics();
  /** Bytes of all that are open here. */
  readonly #mostBytes: number;
  readonly #logger: Logger;
  readonly #known = new Map<SignalStream, StreamRecord>();
  readonly #byId = new Map<string, SignalStream>();
  /** Whose connections are not closed yet. */
  readonly #conversations = new Set<Session>();
  /** Those without a first message, from the oldest on. */
  readonly #opening = new Set<Session>();
  /** Those whose client does not take its answers, since when. */
  readonly #stuck = new Map<Session, number>();
  /** When it was looked last whether they had become quiet, from the first on; without those that are. */
  readonly #talking = new Map<Session, number>();
  /** Those whose connection is broken, from the first to break on. */
  readonly #broken = new Set<SignalStream>();
  readonly #queues = new WeakMap<SignalClassifier, WindowQueue>();
  /** Of tables that streams of one rate share. */
  readonly #shared = new RefCountedBytes();
  readonly #turns = new Turns();
  #bytes = 0;
  #look: NodeJS.Timeout | null = null;
  #onEmpty: (() => void) | null = null;

  constructor({ bodyMemory, requestTimeoutMs }: Limits, logger: Logger) {
    this.#mostBytes = bodyMemory;
    this.#logger = logger;
    this.metrics.open = () => this.#known.size;
    this.watcher = this.#watch(requestTimeoutMs);
  }

  queueOf(model: SignalClassifier): WindowQueue {
    const known = this.#queues.get(model);
    if (known) return known;
    const queue = new WindowQueue(model);
    this.#queues.set(model, queue);
    return queue;
  }

  /** A connection has been made. */
  begin(conversation: Session): void {
    this.#conversations.add(conversation);
    this.#opening.add(conversation);
    this.#talking.set(conversation, conversation.startedAt);
    this.#look ??= setInterval(this.#lookAround, LOOK_MS).unref();
  }

  /** It is no longer quiet. */
  woke(conversation: Session): void {
    this.#talking.set(conversation, performance.now());
    conversation.setIdle(false);
  }

  /**
   * Reserves the memory of a stream before it is made.
   *
   * @returns the stream and its id; null: there is no memory for it
   */
  add(
    conversation: Session,
    owner: string,
    memory: StreamMemory,
    make: () => SignalStream,
  ): { readonly id: string; readonly stream: SignalStream } | null {
    if (!this.#reserve(memory)) return null;
    let stream: SignalStream;
    try {
      stream = make();
    } catch (error) {
      this.#release(memory);
      throw error;
    }
    const id = randomBytes(18).toString('base64url');
    const { requestId } = conversation;
    const [openedAt, brokenAt] = [performance.now(), 0];
    this.#known.set(stream, { id, owner, requestId, memory, openedAt, conversation, brokenAt });
    this.#byId.set(id, stream);
    this.#opening.delete(conversation);
    this.metrics.opened++;
    return { id, stream };
  }

  #reserve({ own, shared }: StreamMemory): boolean {
    // Shared ones first, so that they stay counted while others make room.
    let bytes = own;
    for (const [key, size] of shared) bytes += this.#shared.add(key, size);
    if (this.hasRoomFor(bytes)) {
      this.#bytes += bytes;
      return true;
    }
    for (const [key, size] of shared) this.#shared.remove(key, size);
    return false;
  }

  #release({ own, shared }: StreamMemory): void {
    this.#bytes -= own;
    for (const [key, size] of shared) this.#bytes -= this.#shared.remove(key, size);
  }

  /** Null: there is none here that this owner may take up. */
  find({ id, owner, model }: Claim): SignalStream | null {
    const stream = this.#byId.get(id);
    const known = stream && this.#known.get(stream);
    if (!known || stream.asked.name !== model) return null;
    const [a, b] = [Buffer.from(known.owner), Buffer.from(owner)];
    return a.length === b.length && timingSafeEqual(a, b) ? stream : null;
  }

  /** Where its former connection is not known to be broken, it is ended. */
  resumed(conversation: Session, stream: SignalStream): void {
    this.#endFormer(stream);
    (this.#known.get(stream) as StreamRecord).conversation = conversation;
    this.#broken.delete(stream);
    this.#opening.delete(conversation);
    this.metrics.resumed++;
  }

  /** Its connection is broken: it may be taken up again for a while. */
  broke(stream: SignalStream): void {
    const known = this.#known.get(stream);
    if (!known) return;
    known.conversation = null;
    known.brokenAt = performance.now();
    stream.detach();
    this.#broken.add(stream);
  }

  /** A conversation is over; its connection is being closed. */
  closing(conversation: Session, code: CloseCode): void {
    const { stream } = conversation;
    this.#opening.delete(conversation);
    if (!stream || this.#known.get(stream)?.conversation !== conversation) return;
    if (code === CLOSE.TIMEOUT || code === CLOSE.TRY_LATER) this.broke(stream);
    else this.#forget(stream, ENDS[code] ?? 'error');
  }

  /** Its connection is closed. */
  gone(conversation: Session): void {
    this.#conversations.delete(conversation);
    this.#opening.delete(conversation);
    this.#stuck.delete(conversation);
    this.#talking.delete(conversation);
    if (this.#conversations.size === 0) this.#onEmpty?.();
  }

  /** Its client has taken its answers. */
  drained(conversation: Session): void {
    this.#stuck.delete(conversation);
  }

  /** An unexpected error of a conversation, or of a stream without one. */
  logCrash({ requestId }: Pick<Session, 'requestId'>, error: unknown): void {
    this.#logger.error({ requestId, err: error }, 'stream failed');
  }

  /** Tells all clients where their streams are, and resolves when they have gone, or have had time to. */
  async close(): Promise<void> {
    for (const conversation of [...this.#conversations]) {
      bounded(conversation, () => conversation.leave());
    }
    if (this.#conversations.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      setTimeout(resolve, LAST_MS).unref();
    });
  }

  /**
   * Says something in the conversation of a stream; null: there is none.
   *
   * @param message a Buffer of samples, or JSON that has been parsed
   */
  async say(claim: Claim, message: unknown): Promise<Reply | null> {
    const stream = this.find(claim);
    const conversation = stream && this.#known.get(stream)?.conversation;
    if (!stream || !conversation) return null;
    if (Buffer.isBuffer(message)) conversation.onBinary(message);
    else conversation.say(message);
    const { problem } = conversation;
    if (problem !== null) return { problem };
    await stream.taken();
    // What waited may have been wrong as well.
    return conversation.problem ? { problem: conversation.problem } : { place: stream.place };
  }

  #endFormer(stream: SignalStream): void {
    const known = this.#known.get(stream) as StreamRecord;
    const before = known.conversation;
    if (!before) return;
    known.conversation = null;
    stream.detach();
    before.superseded();
  }

  #watch(requestTimeoutMs: number): Watcher {
    const turns = this.#turns;
    return {
      requestTimeoutMs,
      get isTurnOver() {
        return turns.isOver;
      },
      later: (stream) => turns.add(stream),
      answered: (milliseconds) => this.metrics.answered(milliseconds),
      unusable: () => this.metrics.count('unusable'),
      skipped: () => this.metrics.count('skipped'),
      failed: () => this.metrics.count('failed'),
      held: (bytes) => {
        this.#bytes += bytes;
      },
      stuck: (stream) => {
        const conversation = this.#known.get(stream)?.conversation;
        if (!conversation || this.#stuck.has(conversation)) return;
        this.#stuck.set(conversation, performance.now());
      },
      ended: (stream) => this.#known.get(stream)?.conversation?.ended(),
      left: (stream) => {
        const conversation = this.#known.get(stream)?.conversation;
        if (conversation) conversation.leaveNow();
        else this.#forget(stream, 'leaving');
      },
      misplaced: (stream, message) =>
        this.#known.get(stream)?.conversation?.fail(CLOSE.INVALID, message),
      crashed: (stream, error) => this.#crashed(stream, error),
    };
  }

  #crashed(stream: SignalStream, error: unknown): void {
    const known = this.#known.get(stream);
    if (!known) stream.stop();
    else if (known.conversation) known.conversation.onError(error);
    else {
      this.logCrash(known, error);
      this.#forget(stream, 'error');
    }
  }

  /** Those whose connection broke first make room. */
  hasRoomFor(bytes: number): boolean {
    for (const stream of this.#broken) {
      if (this.#bytes + bytes <= this.#mostBytes) break;
      this.#forget(stream, 'broken');
    }
    return this.#bytes + bytes <= this.#mostBytes;
  }

  #forget(stream: SignalStream, end: StreamEnd): void {
    const known = this.#known.get(stream);
    if (!known) return;
    this.#remove(stream, known);
    this.metrics.ended(end);
    const durationMs = Math.round(performance.now() - known.openedAt);
    const { windows, skipped } = stream.counts;
    const { requestId } = known;
    const model = stream.asked.name;
    this.#logger.info({ requestId, model, end, windows, skipped, durationMs }, 'stream');
  }

  #remove(stream: SignalStream, { id, memory }: StreamRecord): void {
    stream.stop();
    this.#known.delete(stream);
    this.#byId.delete(id);
    this.#broken.delete(stream);
    this.#release(memory);
  }

  readonly #lookAround = (): void => {
    const now = performance.now();
    for (const conversation of this.#opening) {
      if (now - conversation.startedAt < OPENING_MS) break;
      this.#opening.delete(conversation);
      const detail = `message: none opened a stream within ${OPENING_MS / 1000} s`;
      bounded(conversation, () => conversation.fail(CLOSE.TIMEOUT, detail));
    }
    for (const [conversation, since] of this.#stuck) {
      if (now - since < CLIENT_TIMEOUT_MS) break;
      this.#stuck.delete(conversation);
      const detail = 'Answers have not been taken.';
      bounded(conversation, () => conversation.fail(CLOSE.TIMEOUT, detail));
    }
    for (const [conversation, lookedAt] of this.#talking) {
      if (now - lookedAt < QUIET_MS) break;
      this.#talking.delete(conversation);
      if (conversation.heardAt > lookedAt) this.#talking.set(conversation, now);
      else bounded(conversation, () => conversation.setIdle(true));
    }
    for (const stream of this.#broken) {
      if (now - (this.#known.get(stream)?.brokenAt ?? 0) < RESUME_MS) break;
      this.#forget(stream, 'broken');
    }
    if (this.#conversations.size > 0 || this.#broken.size > 0 || !this.#look) return;
    clearInterval(this.#look);
    this.#look = null;
  };
}

/** An unexpected error ends this conversation, and not what is done for others in the same turn. */
function bounded(conversation: Session, work: () => void): void {
  try {
    work();
  } catch (error) {
    conversation.onError(error);
  }
}
