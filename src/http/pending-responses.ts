import type { Socket } from 'node:net';
import type { Response } from 'express';
import { CompactingMap } from '../lib/compacting-map';
import type { Connections } from '../serving/connections';
import { RequestsInFlight } from '../serving/connections';

/**
 * Requests that a connection can still pipeline after MAX_CONNECTION_REQUESTS: the client cannot know the limit yet, and
 * loses no request.
 */
const GRACE = 128;

/** Unanswered requests of each connection, in order. */
export class PendingResponses extends RequestsInFlight {
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
