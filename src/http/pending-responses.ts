import type { Socket } from 'node:net';
import type { Response } from 'express';
import { CompactingMap } from '../lib/compacting-map';
import type { Connections } from '../serving/connections';
import { RequestsInFlight } from '../serving/in-flight';

/**
 * How many more a connection may bring, pipelined, when it has brought as many as it may: whoever sends
 * without waiting cannot know yet, and is to lose none; whoever never waits is to come to an end.
 */
const GRACE = 128;

/** The answers that are due on each connection, in the order of their requests. */
export class PendingResponses extends RequestsInFlight {
  readonly #connections: Connections;
  readonly #due = new CompactingMap<Socket, Response[]>();
  readonly #maxRequests: number;
  /** Requests that a connection has brought, where that is bounded. */
  readonly #brought = new WeakMap<Socket, number>();

  /** @param maxRequests of one connection, which is closed after as many; 0: any number */
  constructor(connections: Connections, maxRequests = 0) {
    super();
    this.#connections = connections;
    this.#maxRequests = maxRequests;
  }

  /** Returns how many are due on its connection, this one included. */
  begin(response: Response): number {
    const { socket } = response.req;
    const due = this.#due.get(socket) ?? [];
    if (due.push(response) === 1) this.#due.set(socket, due);
    this.begun();
    this.#tellWhoseMove(socket);
    if (this.#isUsedUp(socket) || this.isLeaving) this.#closeAfterLast(socket);
    return due.length;
  }

  /** False when it had ended before. */
  end(response: Response): boolean {
    const { socket } = response.req;
    const due = this.#due.get(socket);
    const index = due?.indexOf(response) ?? -1;
    if (!due || index < 0) return false;
    due.splice(index, 1);
    if (due.length === 0) this.#due.delete(socket);
    this.#tellWhoseMove(socket);
    this.ended();
    return true;
  }

  /**
   * Node closes the response that is being sent on a connection, but not those of pipelined
   * requests that wait for their turn behind it: they would never end.
   */
  connectionClosed(socket: Socket): void {
    for (const response of [...(this.#due.get(socket) ?? [])]) response.emit('close');
  }

  /** Whether a request that was received whole waits for its answer on this connection. */
  isAnswerDueOn(socket: Socket): boolean {
    return this.#due.get(socket)?.some(({ req }) => req.complete) ?? false;
  }

  /** The answers that are due next, one of each connection. */
  get next(): readonly Response[] {
    return [...this.#due.values()].map(([first]) => first as Response);
  }

  /** Still takes requests, and closes each connection after an answer, so that clients go elsewhere. */
  override leave(): void {
    if (this.isLeaving) return;
    super.leave();
    for (const socket of this.#due.keys()) this.#closeAfterLast(socket);
  }

  /** Node's own limit answers what is pipelined beyond it with an empty 503, and leaves it open. */
  #isUsedUp(socket: Socket): boolean {
    const most = this.#maxRequests;
    if (most === 0) return false;
    const count = (this.#brought.get(socket) ?? 0) + 1;
    this.#brought.set(socket, count);
    return count >= most && count <= most + GRACE;
  }

  #tellWhoseMove(socket: Socket): void {
    const [first, second] = this.#due.get(socket) ?? [];
    if (second) this.#connections.markBusy(socket);
    else this.#connections.markIdle(socket, first?.req ?? null);
  }

  /**
   * Tells the client not to send another request on this connection. Only with the newest of the
   * answers that are due on it: Node closes it then, with the answers to what was pipelined behind.
   */
  #closeAfterLast(socket: Socket): void {
    const due = this.#due.get(socket);
    const earlier = due?.at(-2);
    const last = due?.at(-1);
    if (earlier && !earlier.headersSent) earlier.removeHeader('Connection');
    if (last && !last.headersSent) last.setHeader('Connection', 'close');
  }
}
