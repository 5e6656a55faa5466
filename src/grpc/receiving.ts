import type { Socket } from 'node:net';
import { CompactingMap } from '../lib/compacting-map';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import type { ConnectionEnd } from '../serving/metrics/metrics';
import { CLIENT_TIMEOUT_MS, LOOK_MS, PATIENCE_MS, STILL_LOOKS } from '../serving/timeouts';
import type { GrpcRequestContext } from './exchange';
import { type MessageHead, MessageHeads } from './message-heads';
import type { MessageExchange } from './streams/message';

/** Pieces in which a request may come, and messages that it may have, before what Node keeps of each is counted. */
const FREE_PIECES = 64;
/** How many bytes one byte of deflate may become. */
const MOST_INFLATED = 1032;
/** Calls of one connection that go on until their client ends them: watches of health, reflection. */
const MOST_STREAMS = 16;
/** Such calls that are refused on one connection before it is cut, and how many are forgotten at each look. */
const MAX_REFUSED_STREAMS = 1000;
const FORGOTTEN_STREAMS = 10;

/** A call, or of a stream that carries requests a message. */
type Asked = GrpcRequestContext | MessageExchange;

interface Connection {
  readonly socket: Socket;
  /** What has not come whole, and streams of messages, from the first to the last. */
  readonly receiving: CompactingMap<Asked, true>;
  /** What has one answer, has come whole, and is not answered. */
  readonly owed: CompactingMap<Asked, true>;
  /** That of which the answer is written and not taken yet: since when (`performance.now()`). */
  readonly answered: CompactingMap<Asked, number>;
  /** Streams that carry requests, of which none is on its way: since when. From the first to the last. */
  readonly idle: CompactingMap<GrpcRequestContext, number>;
  /** That carry no requests. */
  streams: number;
  /** Of those, but for what is forgotten: each takes work and memory. */
  refusedStreams: number;
}

/**
 * The connections of gRPC clients: whose move it is on each, and what is held for clients that do not
 * make theirs. A message counts with the length that it says it has, before any of it is read; a
 * compressed one with what it may become.
 */
export class Receiving {
  readonly #connections: Connections;
  readonly #limits: BodyLimits;
  /** By the peer's address and port. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #byAsked = new WeakMap<Asked, Connection>();
  readonly #plain: ByteBudget<Asked>;
  readonly #compressed: ByteBudget<Asked>;
  readonly #answers: ByteBudget<Asked>;
  readonly #timer: NodeJS.Timeout;
  /** `performance.now()` until which clients are waited for; null: the service does not drain. */
  #drainsUntil: number | null = null;

  constructor(connections: Connections, limits: BodyLimits) {
    const budget = (end: ConnectionEnd): ByteBudget<Asked> =>
      new ByteBudget({
        limit: limits.bodyMemory,
        patienceMs: PATIENCE_MS,
        cut: (asked) => connections.abort((this.#byAsked.get(asked) as Connection).socket, end),
      });
    this.#connections = connections;
    this.#limits = limits;
    this.#plain = budget('body_stuck');
    this.#compressed = budget('body_stuck');
    this.#answers = budget('answer_stuck');
    this.#timer = setInterval(this.#look, LOOK_MS).unref();
  }

  opened(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const connection = {
      socket,
      receiving: new CompactingMap<Asked, true>(),
      owed: new CompactingMap<Asked, true>(),
      answered: new CompactingMap<Asked, number>(),
      idle: new CompactingMap<GrpcRequestContext, number>(),
      streams: 0,
      refusedStreams: 0,
    };
    this.#byPeer.set(peer, connection);
    socket.on('close', () => {
      // Another connection may have come from the same port already.
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
  }

  /** Returns why it is one too many for its connection; null: it is not. */
  begin(call: GrpcRequestContext): ServiceError | null {
    const connection = this.#byPeer.get(call.peer);
    if (!connection) return null;
    this.#byAsked.set(call, connection);
    connection.receiving.set(call, true);
    this.#tellWhoseMove(connection);
    if (call.carriesRequests) return null;
    const heads = new MessageHeads();
    let messages = 0;
    call.take = (data) => {
      call.stillLooks = 0;
      const begun = heads.read(data);
      // A stream may have thousands of messages in one piece.
      let refusal = this.#holdPieces(call, Math.max(1, begun.length));
      for (const head of begun) {
        messages++;
        refusal ??= this.#refusalOfMessage(call, head, messages);
      }
      if (refusal) call.fail(refusal);
      return refusal === null;
    };
    if (!call.isStream) return null;
    connection.streams++;
    if (connection.streams <= MOST_STREAMS) return null;
    if (++connection.refusedStreams > MAX_REFUSED_STREAMS) {
      this.#connections.abort(connection.socket, 'stream_flood');
    }
    return new ServiceError(
      'PIPELINE_FULL',
      `Over ${MOST_STREAMS} streams of this connection are open.`,
    );
  }

  /** No message of a stream that carries requests is on its way. */
  idles(call: GrpcRequestContext): void {
    const connection = this.#byAsked.get(call);
    if (!connection || call.isOver) return;
    connection.receiving.delete(call);
    connection.idle.set(call, performance.now());
  }

  /** A message of such a stream begins; returns why it is refused, or null. */
  beginMessage(message: MessageExchange, head: MessageHead): ServiceError | null {
    const connection = this.#byAsked.get(message.call);
    if (!connection) return null;
    connection.idle.delete(message.call);
    this.#byAsked.set(message, connection);
    connection.receiving.set(message, true);
    this.#tellWhoseMove(connection);
    return this.#refusalOfMessage(message, head, 1);
  }

  /** A piece of it has come; returns why it is refused, or null. */
  piece(message: MessageExchange): ServiceError | null {
    message.stillLooks = 0;
    return this.#holdPieces(message, 1);
  }

  /** All of its request has come. */
  whole(asked: Asked): void {
    if (asked.takesMany) return; // what was made of its messages may wait for its client until it ends
    const connection = this.#byAsked.get(asked);
    asked.isWhole = true;
    if (!connection?.receiving.delete(asked)) return;
    this.#plain.end(asked);
    this.#compressed.end(asked);
    if (!asked.isStream) connection.owed.set(asked, true);
    this.#tellWhoseMove(connection);
  }

  /** Its answer, of so many bytes, has been written; it ends when its client has taken it. */
  answered(asked: Asked, bytes: number): void {
    const connection = this.#byAsked.get(asked);
    if (!connection || asked.isStream || asked.isOver) return;
    const held = SMALL_BYTES + bytes; // the call itself costs memory, however small its answer
    this.#answers.hasRoomFor(held); // those who do not take theirs go
    this.#answers.begin(asked, held);
    connection.owed.delete(asked);
    connection.answered.set(asked, performance.now());
    this.#tellWhoseMove(connection);
  }

  end(asked: Asked): void {
    const connection = this.#byAsked.get(asked);
    if (!connection) return;
    for (const budget of [this.#plain, this.#compressed, this.#answers]) budget.end(asked);
    connection.receiving.delete(asked);
    connection.owed.delete(asked);
    connection.answered.delete(asked);
    connection.idle.delete(asked as GrpcRequestContext);
    if (asked.isStream && !asked.carriesRequests) connection.streams--;
    this.#tellWhoseMove(connection);
  }

  /**
   * From now on a request that stands still for a second is given up, and when the time is over
   * whatever waits for its client.
   */
  drain(patienceMs: number): void {
    this.#drainsUntil = performance.now() + patienceMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #refusalOfMessage(
    asked: Asked,
    { isCompressed, bytes }: MessageHead,
    messages: number,
  ): ServiceError | null {
    const { bodyLimit } = this.#limits;
    if (bytes > bodyLimit) {
      const problem = `The message is over the limit of ${bodyLimit} bytes.`;
      return new ServiceError('BODY_TOO_LARGE', problem);
    }
    if (messages > 1 && !asked.takesMany) {
      return new ServiceError('BODY_INVALID', 'message: another one follows');
    }
    if (!isCompressed && bytes <= SMALL_BYTES) return null;
    if (!isCompressed) return this.#hold(asked, bytes, this.#plain);
    return this.#hold(asked, Math.min(bodyLimit, bytes * MOST_INFLATED), this.#compressed);
  }

  /** More pieces of it have come, of which the first are free. */
  #holdPieces(asked: Asked, count: number): ServiceError | null {
    const free = Math.max(FREE_PIECES, asked.pieces);
    asked.pieces += count;
    const kept = Math.max(0, asked.pieces - free) * PIECE_BYTES;
    return kept > 0 ? this.#hold(asked, kept, this.#plain) : null;
  }

  /** Counts so many more bytes of it; returns why it is refused where they have no room, or null. */
  #hold(asked: Asked, bytes: number, budget: ByteBudget<Asked>): ServiceError | null {
    if (!budget.hasRoomFor(bytes, asked)) {
      return new ServiceError('BODY_MEMORY_FULL', 'Too many messages are on their way.');
    }
    if (!budget.add(asked, bytes)) budget.begin(asked, bytes);
    return null;
  }

  #tellWhoseMove({ socket, owed }: Connection): void {
    if (owed.size > 0) this.#connections.markBusy(socket);
    else this.#connections.markIdle(socket, null);
  }

  readonly #look = (): void => {
    const now = performance.now();
    for (const connection of this.#byPeer.values()) this.#lookAt(connection, now);
    this.#boundSlow(now - PATIENCE_MS);
  };

  /** An unexpected error ends this connection, and no other one. */
  #lookAt(connection: Connection, now: number): void {
    try {
      connection.refusedStreams = Math.max(0, connection.refusedStreams - FORGOTTEN_STREAMS);
      this.#endLate(connection, now - CLIENT_TIMEOUT_MS);
      if (this.#drainsUntil !== null) this.#giveUp(connection, now >= this.#drainsUntil);
    } catch (error) {
      process.emitWarning(error as Error);
      connection.socket.destroy();
    }
  }

  #endLate(connection: Connection, before: number): void {
    for (const call of connection.receiving.keys()) {
      if (call.startedAt > before) break; // and so have those that follow
      call.fail(new ServiceError('DEADLINE_EXCEEDED', 'The message was not received in time.'));
    }
    const [first = before] = connection.answered.values();
    if (first < before) this.#connections.abort(connection.socket, 'answer_stuck');
  }

  #giveUp(connection: Connection, isTimeUp: boolean): void {
    const draining = new ServiceError('DRAINING', 'The service is shutting down.');
    for (const asked of connection.receiving.keys()) {
      if (++asked.stillLooks >= STILL_LOOKS || isTimeUp) asked.fail(draining);
    }
    if (!isTimeUp) return;
    for (const call of connection.idle.keys()) call.fail(draining);
    if (connection.answered.size > 0) this.#connections.abort(connection.socket, 'answer_stuck');
  }

  /**
   * Each call costs memory, though nothing of its message has come, and each stream that idles: beside one
   * of each connection there are as many that take their time as small messages fit into the memory for
   * messages.
   */
  #boundSlow(before: number): void {
    let count = 0;
    let worst: { readonly connection: Connection; readonly slow: number } | null = null;
    for (const connection of this.#byPeer.values()) {
      let slow = 0;
      for (const { startedAt } of connection.receiving.keys()) {
        if (startedAt > before) break;
        slow++;
      }
      for (const since of connection.idle.values()) {
        if (since > before) break;
        slow++;
      }
      count += slow;
      if (slow > (worst?.slow ?? 0)) worst = { connection, slow };
    }
    const most = this.#byPeer.size + this.#limits.bodyMemory / SMALL_BYTES;
    if (worst && count > most) this.#connections.abort(worst.connection.socket, 'body_stuck');
  }
}
