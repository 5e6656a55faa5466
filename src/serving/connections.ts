import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { CompactingMap } from '../lib/compacting-map';
import type { ConnectionEnd } from './metrics/metrics';

/** Responses that are written to a connection before it is closed without a request in progress. */
export interface FinalResponses {
  /** All connections are in use. */
  readonly refused: string;
  /** The request was not received in time. */
  readonly late: string;
}

/** A connection that waits for its client. */
interface IdleConnection {
  /** `performance.now()` when it was accepted, received headers, or sent its last response. */
  readonly since: number;
  /** Request whose headers were received; null: no request has started. */
  readonly receiving: IncomingMessage | null;
  /** The connection has sent at least one request. */
  readonly hasSentRequest: boolean;
}

/**
 * The open connections of a port, at most MAX_CONNECTIONS. A further connection replaces the one that has waited for its
 * client the longest (for a request, or for the rest of one), so that silent or slow clients do not keep others out. It
 * is refused only if all connections have a complete request without a response.
 */
export class Connections {
  readonly #limit: number;
  readonly #count: (end: ConnectionEnd) => void;
  /** Null: connections are closed without a response. */
  readonly #finalResponses: FinalResponses | null;
  readonly #open = new CompactingMap<Socket, true>();
  /** Idle connections, longest idle first. May contain connections with a complete request: skipped on iteration. */
  readonly #idle = new CompactingMap<Socket, IdleConnection>();

  constructor(
    limit: number,
    count: (end: ConnectionEnd) => void,
    finalResponses: FinalResponses | null,
  ) {
    this.#limit = limit;
    this.#count = count;
    this.#finalResponses = finalResponses;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds an accepted connection. @param isSecure no response can be sent before the TLS handshake */
  opened(socket: Socket, isSecure = false): void {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) {
      this.#count('rejected');
      if (!isSecure && this.#finalResponses) socket.write(this.#finalResponses.refused);
      socket.destroy();
      return;
    }
    this.#open.set(socket, true);
    this.#setIdle(socket, { receiving: null, hasSentRequest: false });
  }

  /** Replaces a TCP socket with its TLS socket after the handshake. */
  secured(socket: Socket, secure: Socket): void {
    if (!this.#open.delete(socket)) return;
    this.#idle.delete(socket);
    this.#open.set(secure, true);
    this.#setIdle(secure, { receiving: null, hasSentRequest: false });
  }

  has(socket: Socket): boolean {
    return this.#open.get(socket) ?? false;
  }

  /** Marks a connection as waiting for its client. @param receiving request in progress; null: none */
  markIdle(socket: Socket, receiving: IncomingMessage | null): void {
    this.#setIdle(socket, { receiving, hasSentRequest: true });
  }

  /** Marks a connection as waiting for the service. */
  markBusy(socket: Socket): void {
    this.#idle.delete(socket);
  }

  closed(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
  }

  /** Closes a connection whose client is too slow, and counts it. @returns true, for `ByteBudget` */
  abort(socket: Socket, end: ConnectionEnd): true {
    if (this.#open.get(socket)) {
      this.closed(socket);
      this.#count(end);
      socket.destroy();
    }
    return true;
  }

  /** Closes all connections at once. */
  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /** Whether a connection that was accepted less than `ms` ago has not sent a request. */
  isRequestDue(ms: number): boolean {
    const now = performance.now();
    for (const { since, hasSentRequest } of this.#idle.values()) {
      if (!hasSentRequest && now - since < ms) return true;
    }
    return false;
  }

  #setIdle(socket: Socket, state: Omit<IdleConnection, 'since'>): void {
    if (!this.#open.get(socket)) return;
    this.#idle.delete(socket); // moves it to the end
    this.#idle.set(socket, { since: performance.now(), ...state });
  }

  #makeRoom(): boolean {
    const [socket, first] = this.#longestIdle() ?? [];
    if (!socket) return false;
    if (first?.receiving && this.#finalResponses) socket.write(this.#finalResponses.late);
    return this.abort(socket, 'evicted');
  }

  /** The connection that has been idle the longest; null: none. */
  #longestIdle(): readonly [Socket, IdleConnection] | null {
    for (const entry of this.#idle) {
      if (!entry[1].receiving?.complete) return entry;
      this.markBusy(entry[0]);
    }
    return null;
  }
}

/**
 * Counts the requests without a complete response. States of a shutdown: `leave` (requests are accepted, clients should
 * disconnect), then `drain` (new requests are rejected).
 */
export class RequestsInFlight {
  #size = 0;
  #isLeaving = false;
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  /** Shutdown has started. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** New requests are rejected. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#size;
  }

  add(): void {
    this.#size++;
  }

  remove(): void {
    if (--this.#size === 0) this.#onIdle?.();
  }

  leave(): void {
    this.#isLeaving = true;
  }

  /** Rejects new requests; resolves when all others have their response. */
  drain(): Promise<void> {
    this.leave();
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#size === 0) resolve();
    });
  }
}

/**
 * Requests that a connection can still pipeline after MAX_CONNECTION_REQUESTS: the client cannot know the limit yet, and
 * loses no request.
 */
const GRACE = 128;

/** Unanswered requests of each connection, in order. */
export class PendingResponses<
  Response extends ServerResponse = ServerResponse,
> extends RequestsInFlight {
  readonly #connections: Connections;
  readonly #pending = new CompactingMap<Socket, Response[]>();
  readonly #maxRequests: number;
  /** Number of requests per connection, if it is limited. */
  readonly #requestCounts = new WeakMap<Socket, number>();

  /** @param maxRequests requests after which a connection is closed; 0: no limit */
  constructor(connections: Connections, maxRequests = 0) {
    super();
    this.#connections = connections;
    this.#maxRequests = maxRequests;
  }

  /** Adds a request. @returns unanswered requests of its connection, including this one */
  begin(response: Response): number {
    const { socket } = response.req;
    const pending = this.#pending.get(socket) ?? [];
    if (pending.push(response) === 1) this.#pending.set(socket, pending);
    this.add();
    this.#updateIdleState(socket);
    if (this.#countsAsLast(socket) || this.isLeaving) this.#closeAfterLast(socket);
    return pending.length;
  }

  /** Removes a request. @returns false if it was removed before */
  end(response: Response): boolean {
    const { socket } = response.req;
    const pending = this.#pending.get(socket);
    const index = pending?.indexOf(response) ?? -1;
    if (!pending || index < 0) return false;
    pending.splice(index, 1);
    if (pending.length === 0) this.#pending.delete(socket);
    this.#updateIdleState(socket);
    this.remove();
    return true;
  }

  /**
   * Emits 'close' for the pipelined requests of a closed connection. Node does so only for the response that is being
   * sent.
   */
  connectionClosed(socket: Socket): void {
    for (const response of [...(this.#pending.get(socket) ?? [])]) response.emit('close');
  }

  /** Whether the connection has a completely received request without a response. */
  hasCompleteRequest(socket: Socket): boolean {
    return this.#pending.get(socket)?.some(({ req }) => req.complete) ?? false;
  }

  /** The first unanswered request of each connection. */
  get next(): readonly Response[] {
    return [...this.#pending.values()].map(([first]) => first as Response);
  }

  /** Closes each connection after its next response; requests are still accepted. */
  override leave(): void {
    if (this.isLeaving) return;
    super.leave();
    for (const socket of this.#pending.keys()) this.#closeAfterLast(socket);
  }

  /** Counts a request. Node's own limit would answer pipelined requests above it with an empty 503. */
  #countsAsLast(socket: Socket): boolean {
    const most = this.#maxRequests;
    if (most === 0) return false;
    const count = (this.#requestCounts.get(socket) ?? 0) + 1;
    this.#requestCounts.set(socket, count);
    return count >= most && count <= most + GRACE;
  }

  #updateIdleState(socket: Socket): void {
    const [first, second] = this.#pending.get(socket) ?? [];
    if (second) this.#connections.markBusy(socket);
    else this.#connections.markIdle(socket, first?.req ?? null);
  }

  /**
   * Sets `Connection: close` on the newest response of the connection: Node closes the connection with it, including
   * the responses to later pipelined requests.
   */
  #closeAfterLast(socket: Socket): void {
    const pending = this.#pending.get(socket);
    const earlier = pending?.at(-2);
    const last = pending?.at(-1);
    if (earlier && !earlier.headersSent) earlier.removeHeader('Connection');
    if (last && !last.headersSent) last.setHeader('Connection', 'close');
  }
}
