import type { Socket } from 'node:net';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import type { ConnectionEnd } from '../serving/metrics/metrics';
import { CLIENT_TIMEOUT_MS, LOOK_MS, PATIENCE_MS, STILL_LOOKS } from '../serving/patience';
import type { GrpcExchange } from './exchange';
import { type MessageHead, MessageHeads } from './message-heads';

/** Pieces in which a request may come, and messages that it may have, before what Node keeps of each is counted. */
const FREE_PIECES = 64;
/** How many bytes one byte of deflate may become. */
const MOST_INFLATED = 1032;
/** Calls of one connection that go on until their client ends them: watches of health, reflection. */
const MOST_STREAMS = 16;

interface Connection {
  readonly socket: Socket;
  /** Calls whose requests have not come whole, and streams of messages, from the first to the last. */
  readonly receiving: Set<GrpcExchange>;
  /** Calls with one answer whose requests have come whole, and which are not answered. */
  readonly owed: Set<GrpcExchange>;
  /** Calls whose answers are written and not taken yet: since when (`performance.now()`). */
  readonly answered: Map<GrpcExchange, number>;
  streams: number;
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
  readonly #byCall = new WeakMap<GrpcExchange, Connection>();
  readonly #plain: ByteBudget<GrpcExchange>;
  readonly #compressed: ByteBudget<GrpcExchange>;
  readonly #answers: ByteBudget<GrpcExchange>;
  readonly #timer: NodeJS.Timeout;
  /** `performance.now()` until which clients are waited for; null: the service does not drain. */
  #drainsUntil: number | null = null;

  constructor(connections: Connections, limits: BodyLimits) {
    const budget = (end: ConnectionEnd): ByteBudget<GrpcExchange> =>
      new ByteBudget({
        ...{ limit: limits.bodyMemory, patienceMs: PATIENCE_MS },
        cut: (call) => connections.cut((this.#byCall.get(call) as Connection).socket, end),
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
      receiving: new Set<GrpcExchange>(),
      owed: new Set<GrpcExchange>(),
      answered: new Map<GrpcExchange, number>(),
      streams: 0,
    };
    this.#byPeer.set(peer, connection);
    socket.on('close', () => {
      // Another connection may have come from the same port already.
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
  }

  /** Returns why it is one too many for its connection; null: it is not. */
  begin(call: GrpcExchange): ServiceError | null {
    const connection = this.#byPeer.get(call.peer);
    if (!connection) return null;
    this.#byCall.set(call, connection);
    connection.receiving.add(call);
    if (call.isStream) connection.streams++;
    const heads = new MessageHeads();
    let messages = 0;
    let pieces = 0;
    call.take = (data) => {
      call.stillLooks = 0;
      const begun = heads.read(data);
      const free = Math.max(FREE_PIECES, pieces);
      pieces += Math.max(1, begun.length); // a stream may have thousands of messages in one
      const kept = Math.max(0, pieces - free) * PIECE_BYTES;
      let refusal = kept > 0 ? this.#hold(call, kept, this.#plain) : null;
      for (const head of begun) {
        messages++;
        refusal ??= this.#refusalOfMessage(call, head, messages);
      }
      if (refusal) call.fail(refusal);
      return refusal === null;
    };
    this.#tellWhoseMove(connection);
    if (!call.isStream || connection.streams <= MOST_STREAMS) return null;
    return new ServiceError(
      'PIPELINE_FULL',
      `Over ${MOST_STREAMS} streams of this connection are open.`,
    );
  }

  /** All of its request has come. */
  whole(call: GrpcExchange): void {
    if (call.takesMany) return; // what was made of its messages may wait for its client until it ends
    const connection = this.#byCall.get(call);
    call.isWhole = true;
    if (!connection?.receiving.delete(call)) return;
    this.#plain.end(call);
    this.#compressed.end(call);
    if (!call.isStream) connection.owed.add(call);
    this.#tellWhoseMove(connection);
  }

  /** Its answer, of so many bytes, has been written; it ends when its client has taken it. */
  answered(call: GrpcExchange, bytes: number): void {
    const connection = this.#byCall.get(call);
    if (!connection || call.isStream || call.isOver) return;
    const held = SMALL_BYTES + bytes; // the call itself costs memory, however small its answer
    this.#answers.hasRoomFor(held); // those who do not take theirs go
    this.#answers.begin(call, held);
    connection.owed.delete(call);
    connection.answered.set(call, performance.now());
    this.#tellWhoseMove(connection);
  }

  end(call: GrpcExchange): void {
    const connection = this.#byCall.get(call);
    if (!connection) return;
    for (const budget of [this.#plain, this.#compressed, this.#answers]) budget.end(call);
    connection.receiving.delete(call);
    connection.owed.delete(call);
    connection.answered.delete(call);
    if (call.isStream) connection.streams--;
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
    call: GrpcExchange,
    { isCompressed, bytes }: MessageHead,
    messages: number,
  ): ServiceError | null {
    const { bodyLimit } = this.#limits;
    if (bytes > bodyLimit) {
      const problem = `The message is over the limit of ${bodyLimit} bytes.`;
      return new ServiceError('BODY_TOO_LARGE', problem);
    }
    if (messages > 1 && !call.takesMany) {
      return new ServiceError('BODY_INVALID', 'message: another one follows');
    }
    if (!isCompressed && bytes <= SMALL_BYTES) return null;
    if (!isCompressed) return this.#hold(call, bytes, this.#plain);
    return this.#hold(call, Math.min(bodyLimit, bytes * MOST_INFLATED), this.#compressed);
  }

  /** Counts so many more bytes of a call; returns why it is refused where they have no room, or null. */
  #hold(call: GrpcExchange, bytes: number, budget: ByteBudget<GrpcExchange>): ServiceError | null {
    if (!budget.hasRoomFor(bytes, call)) {
      return new ServiceError('BODY_MEMORY_FULL', 'Too many messages are on their way.');
    }
    if (!budget.add(call, bytes)) budget.begin(call, bytes);
    return null;
  }

  #tellWhoseMove({ socket, owed }: Connection): void {
    if (owed.size > 0) this.#connections.owes(socket);
    else this.#connections.waits(socket, null);
  }

  readonly #look = (): void => {
    const now = performance.now();
    for (const connection of this.#byPeer.values()) {
      this.#endLate(connection, now - CLIENT_TIMEOUT_MS);
      if (this.#drainsUntil !== null) this.#giveUp(connection, now >= this.#drainsUntil);
    }
    this.#boundSlow(now - PATIENCE_MS);
  };

  #endLate(connection: Connection, before: number): void {
    for (const call of connection.receiving) {
      if (call.startedAt > before) break; // and so have those that follow
      call.fail(new ServiceError('DEADLINE_EXCEEDED', 'The message was not received in time.'));
    }
    const [first = before] = connection.answered.values();
    if (first < before) this.#connections.cut(connection.socket, 'answer_stuck');
  }

  #giveUp(connection: Connection, isTimeUp: boolean): void {
    for (const call of connection.receiving) {
      if (++call.stillLooks < STILL_LOOKS && !isTimeUp) continue;
      call.fail(new ServiceError('DRAINING', 'The service is shutting down.'));
    }
    if (isTimeUp && connection.answered.size > 0)
      this.#connections.cut(connection.socket, 'answer_stuck');
  }

  /**
   * Each call costs memory, though nothing of its message has come: beside one of each connection there
   * are as many that take their time as small messages fit into the memory for messages.
   */
  #boundSlow(before: number): void {
    let count = 0;
    let worst: { readonly connection: Connection; readonly slow: number } | null = null;
    for (const connection of this.#byPeer.values()) {
      let slow = 0;
      for (const call of connection.receiving) {
        if (call.startedAt > before) break;
        slow++;
      }
      count += slow;
      if (slow > (worst?.slow ?? 0)) worst = { connection, slow };
    }
    const most = this.#byPeer.size + this.#limits.bodyMemory / SMALL_BYTES;
    if (worst && count > most) this.#connections.cut(worst.connection.socket, 'body_stuck');
  }
}
