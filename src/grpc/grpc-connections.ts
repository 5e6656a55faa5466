import type { Socket } from 'node:net';
import { CompactingMap } from '../lib/compacting-map';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { ServiceError } from '../serving/errors';
import type { ConnectionEnd } from '../serving/metrics/metrics';
import {
  CLIENT_TIMEOUT_MS,
  HOLD_TIMEOUT_MS,
  MAX_STALLED_CHECKS,
  STALL_CHECK_MS,
} from '../serving/timeouts';
import { type MessagePrefix, tooLarge } from './message-reader';

/** Chunks per request whose overhead in Node is not counted. */
const FREE_CHUNKS = 64;
/** Maximum expansion of deflate: decompressed bytes per compressed byte. */
const MAX_EXPANSION = 1032;
/** Maximum open health watches and reflection streams per connection. */
const MAX_STREAMS = 16;
/** Rejected streams after which a connection is closed, and the number that each tick forgives. */
const MAX_REJECTED_STREAMS = 1000;
const FORGIVEN_STREAMS = 10;

/** A call, or a message of a stream whose messages are requests. */
export interface GrpcRequest {
  readonly connection: GrpcConnection;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;
  /** True if it consists of any number of messages. */
  readonly hasManyMessages: boolean;
  /** True if it has any number of messages or responses. */
  readonly isStream: boolean;
  /** True if each of its messages is a request. */
  readonly carriesRequests: boolean;
  readonly isOver: boolean;
  /** True when it has been received completely. Stays false if it consists of many messages. */
  isReceived: boolean;
  /** Consecutive ticks without data, during graceful shutdown. */
  idleTicks: number;
  /** Number of received chunks. */
  chunks: number;
  fail(error: unknown): void;
}

/** State of one connection. The maps are ordered, oldest entry first. */
export class GrpcConnection {
  readonly socket: Socket;
  /** Requests that have not been received completely, and open streams of messages. */
  readonly receiving = new CompactingMap<GrpcRequest, true>();
  /** Requests with one response that have been received and have no response yet. */
  readonly pending = new CompactingMap<GrpcRequest, true>();
  /** Requests whose response the client has not taken yet, with the time of the response (`performance.now()`). */
  readonly responded = new CompactingMap<GrpcRequest, number>();
  /** Request streams without a message in progress, with the start of this state (`performance.now()`). */
  readonly idle = new CompactingMap<GrpcRequest, number>();
  /** Open streams whose messages are not requests. */
  streams = 0;
  /** Recently rejected streams. */
  rejectedStreams = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

/**
 * Memory and time limits of all gRPC connections. A message counts with the length in its prefix before any of it is
 * read, a compressed message with its maximum decompressed length.
 */
export class GrpcConnections {
  readonly #connections: Connections;
  readonly #limits: BodyLimits;
  readonly #open = new Set<GrpcConnection>();
  readonly #plain: ByteBudget<GrpcRequest>;
  readonly #compressed: ByteBudget<GrpcRequest>;
  readonly #responses: ByteBudget<GrpcRequest>;
  readonly #timer: NodeJS.Timeout;
  /** End of the drain timeout (`performance.now()`); null: the service does not shut down. */
  #drainsUntil: number | null = null;

  constructor(connections: Connections, limits: BodyLimits) {
    const budget = (end: ConnectionEnd): ByteBudget<GrpcRequest> =>
      new ByteBudget({
        limit: limits.bodyMemory,
        holdTimeoutMs: HOLD_TIMEOUT_MS,
        abort: ({ connection }) => connections.abort(connection.socket, end),
      });
    this.#connections = connections;
    this.#limits = limits;
    this.#plain = budget('body_stalled');
    this.#compressed = budget('body_stalled');
    this.#responses = budget('response_stalled');
    this.#timer = setInterval(this.#tick, STALL_CHECK_MS).unref();
  }

  opened(socket: Socket): GrpcConnection {
    const connection = new GrpcConnection(socket);
    this.#open.add(connection);
    socket.on('close', () => this.#open.delete(connection));
    return connection;
  }

  /** Registers a call. @throws ServiceError PIPELINE_FULL: the connection has too many streams */
  begin(call: GrpcRequest): void {
    const { connection } = call;
    connection.receiving.set(call, true);
    this.#updateIdleState(connection);
    if (!call.isStream || call.carriesRequests) return;
    connection.streams++;
    if (connection.streams <= MAX_STREAMS) return;
    if (++connection.rejectedStreams > MAX_REJECTED_STREAMS) {
      this.#connections.abort(connection.socket, 'stream_flood');
    }
    throw new ServiceError(
      'PIPELINE_FULL',
      `This connection has more than ${MAX_STREAMS} open streams.`,
    );
  }

  /** Marks a request stream as idle: no message is in progress. */
  markIdle(call: GrpcRequest): void {
    if (call.isOver) return;
    call.connection.receiving.delete(call);
    call.connection.idle.set(call, performance.now());
  }

  /** Registers the next message of a request stream. @throws ServiceError as `beginMessage` */
  beginStreamMessage(call: GrpcRequest, message: GrpcRequest, prefix: MessagePrefix): void {
    const { connection } = call;
    connection.idle.delete(call);
    connection.receiving.set(message, true);
    this.#updateIdleState(connection);
    this.beginMessage(message, prefix, 1);
  }

  /**
   * Reserves memory for a message before it is read.
   *
   * @param number of the message within its request, from 1
   * @throws ServiceError BODY_TOO_LARGE, BODY_INVALID, BODY_MEMORY_FULL
   */
  beginMessage(request: GrpcRequest, { isCompressed, bytes }: MessagePrefix, number: number): void {
    const { bodyLimit } = this.#limits;
    if (bytes > bodyLimit) throw tooLarge(bodyLimit);
    if (number > 1 && !request.hasManyMessages) {
      throw new ServiceError('BODY_INVALID', 'message: another one follows');
    }
    if (isCompressed) {
      this.#reserve(request, Math.min(bodyLimit, bytes * MAX_EXPANSION), this.#compressed);
    } else if (bytes > SMALL_BYTES) this.#reserve(request, bytes, this.#plain);
  }

  /** Counts a received chunk, the first chunks for free. @throws ServiceError BODY_MEMORY_FULL */
  countChunk(request: GrpcRequest): void {
    request.idleTicks = 0;
    if (++request.chunks > FREE_CHUNKS) this.#reserve(request, PIECE_BYTES, this.#plain);
  }

  /** Releases the memory of a message of a call with many messages. */
  delivered(call: GrpcRequest): void {
    if (!call.hasManyMessages) return;
    this.#plain.end(call);
    this.#compressed.end(call);
    call.chunks = 0;
  }

  /** Marks a request as completely received. Calls with many messages stay open, with a timeout. */
  received(request: GrpcRequest): void {
    if (request.hasManyMessages) return;
    const { connection } = request;
    request.isReceived = true;
    if (!connection.receiving.delete(request)) return;
    this.#plain.end(request);
    this.#compressed.end(request);
    if (!request.isStream) connection.pending.set(request, true);
    this.#updateIdleState(connection);
  }

  /** Registers the response of a request, which is held until the client has taken it. @param bytes of the response */
  responded(request: GrpcRequest, bytes: number): void {
    if (request.isStream || request.isOver) return;
    const { connection } = request;
    const held = SMALL_BYTES + bytes; // the call itself uses memory, even with a small response
    this.#responses.hasRoomFor(held); // closes connections that do not take their responses
    this.#responses.begin(request, held);
    connection.pending.delete(request);
    connection.responded.set(request, performance.now());
    this.#updateIdleState(connection);
  }

  /** Releases everything that is held for a request. */
  end(request: GrpcRequest): void {
    const { connection } = request;
    for (const budget of [this.#plain, this.#compressed, this.#responses]) budget.end(request);
    connection.receiving.delete(request);
    connection.pending.delete(request);
    connection.responded.delete(request);
    connection.idle.delete(request);
    if (request.isStream && !request.carriesRequests) connection.streams--;
    this.#updateIdleState(connection);
  }

  /** Starts graceful shutdown: stalled requests fail after a second, all requests that wait for a client after `timeoutMs`. */
  drain(timeoutMs: number): void {
    this.#drainsUntil = performance.now() + timeoutMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #reserve(request: GrpcRequest, bytes: number, budget: ByteBudget<GrpcRequest>): void {
    if (!budget.hasRoomFor(bytes, request)) {
      throw new ServiceError('BODY_MEMORY_FULL', 'Too many messages are in flight.');
    }
    if (!budget.add(request, bytes)) budget.begin(request, bytes);
  }

  #updateIdleState({ socket, pending }: GrpcConnection): void {
    if (pending.size > 0) this.#connections.markBusy(socket);
    else this.#connections.markIdle(socket, null);
  }

  readonly #tick = (): void => {
    const now = performance.now();
    for (const connection of this.#open) {
      try {
        this.#tickConnection(connection, now);
      } catch (error) {
        // An unexpected error closes one connection only.
        process.emitWarning(error as Error);
        connection.socket.destroy();
      }
    }
    this.#limitSlowRequests(now - HOLD_TIMEOUT_MS);
  };

  #tickConnection(connection: GrpcConnection, now: number): void {
    connection.rejectedStreams = Math.max(0, connection.rejectedStreams - FORGIVEN_STREAMS);
    this.#failLate(connection, now - CLIENT_TIMEOUT_MS);
    if (this.#drainsUntil !== null) this.#failStalled(connection, now >= this.#drainsUntil);
  }

  #failLate({ receiving, responded, socket }: GrpcConnection, before: number): void {
    for (const request of receiving.keys()) {
      if (request.startedAt > before) break; // later entries are newer
      request.fail(new ServiceError('DEADLINE_EXCEEDED', 'The message was not received in time.'));
    }
    const [first = before] = responded.values();
    if (first < before) this.#connections.abort(socket, 'response_stalled');
  }

  #failStalled({ receiving, responded, idle, socket }: GrpcConnection, isTimeUp: boolean): void {
    const draining = new ServiceError('DRAINING', 'The service is shutting down.');
    for (const request of receiving.keys()) {
      if (++request.idleTicks >= MAX_STALLED_CHECKS || isTimeUp) request.fail(draining);
    }
    if (!isTimeUp) return;
    for (const call of idle.keys()) call.fail(draining);
    if (responded.size > 0) this.#connections.abort(socket, 'response_stalled');
  }

  /**
   * Limits slow requests and idle streams, which use memory even without a message. Each connection may have one, and
   * all connections together may have as many more as small messages fit into BODY_MEMORY. Closes the connection with
   * the most.
   */
  #limitSlowRequests(before: number): void {
    let count = 0;
    let worst: { readonly connection: GrpcConnection; readonly slow: number } | null = null;
    for (const connection of this.#open) {
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
    const max = this.#open.size + this.#limits.bodyMemory / SMALL_BYTES;
    if (worst && count > max) this.#connections.abort(worst.connection.socket, 'body_stalled');
  }
}
