import type { Socket } from 'node:net';
import type { Response } from 'express';
import type { Connections } from './connections';

/**
 * How many more a connection may bring, pipelined, when it has brought as many as it may: whoever sends
 * without waiting cannot know yet, and is to lose none; whoever never waits is to come to an end.
 */
const GRACE = 128;

/**
 * The requests that have arrived and are not answered yet, and how the service stands to new ones:
 * it takes them, it takes them and wants to be left (`leave`), or it refuses them (`drain`).
 */
export class InFlight {
  readonly #connections: Pick<Connections, 'waits' | 'owes'>;
  /** Answers that are due, by connection, in the order of the requests. */
  readonly #due = new Map<Socket, Response[]>();
  readonly #maxRequests: number;
  /** Requests that a connection has brought, where that is bounded. */
  readonly #brought = new WeakMap<Socket, number>();
  #size = 0;
  #isLeaving = false;
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  /** @param maxRequests of one connection, which is closed after as many; 0: any number */
  constructor(connections: Pick<Connections, 'waits' | 'owes'>, maxRequests = 0) {
    this.#connections = connections;
    this.#maxRequests = maxRequests;
  }

  /** The process is to end: nobody should send requests here any more. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** New requests are refused. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#size;
  }

  begin(response: Response): void {
    const { socket } = response.req;
    const due = this.#due.get(socket);
    if (due) due.push(response);
    else this.#due.set(socket, [response]);
    this.#size++;
    this.#tellWhoseMove(socket);
    if (this.#isUsedUp(socket) || this.#isLeaving) this.#closeAfterLast(socket);
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
    if (--this.#size === 0) this.#onIdle?.();
    return true;
  }

  /** Requests on this connection that are not answered yet. */
  countOn(socket: Socket): number {
    return this.#due.get(socket)?.length ?? 0;
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
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    for (const socket of this.#due.keys()) this.#closeAfterLast(socket);
  }

  /** Refuses requests from now on; resolves when those that came before are answered. */
  drain(): Promise<void> {
    this.leave();
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#size === 0) resolve();
    });
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
    if (second) this.#connections.owes(socket);
    else this.#connections.waits(socket, first?.req ?? null);
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
