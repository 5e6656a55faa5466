import type { Response } from 'express';

/**
 * The requests that have arrived and are not answered yet, and how the service stands to new ones:
 * it takes them, it takes them and wants to be left (`leave`), or it refuses them (`drain`).
 */
export class InFlight {
  readonly #responses = new Set<Response>();
  #isLeaving = false;
  #isDraining = false;
  #onIdle: (() => void) | null = null;
  /** While leaving: of each connection the answer that is to be its last. */
  readonly #lastOn = new WeakMap<object, Response>();

  /** The process is to end: nobody should send requests here any more. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** New requests are refused. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#responses.size;
  }

  begin(response: Response): void {
    this.#responses.add(response);
    if (this.#isLeaving) this.#closeAfter(response);
  }

  /** False when it had ended before. */
  end(response: Response): boolean {
    const wasInFlight = this.#responses.delete(response);
    if (this.#responses.size === 0) this.#onIdle?.();
    return wasInFlight;
  }

  /**
   * Node closes the response that is being sent on a connection, but not those of pipelined
   * requests that wait for their turn behind it: they would never end.
   */
  connectionClosed(socket: unknown): void {
    for (const response of this.#responses) {
      if (response.req.socket === socket) response.emit('close');
    }
  }

  /** Whether a request that was received whole waits for its answer on this connection. */
  isAnswerDueOn(socket: unknown): boolean {
    for (const response of this.#responses) {
      if (response.req.socket === socket && response.req.complete) return true;
    }
    return false;
  }

  /** Still takes requests, and closes each connection after an answer, so that clients go elsewhere. */
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    for (const response of this.#responses) this.#closeAfter(response);
  }

  /** Refuses requests from now on; resolves when those that came before are answered. */
  drain(): Promise<void> {
    this.leave();
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#responses.size === 0) resolve();
    });
  }

  /**
   * Tells the client not to send another request on this connection. Only by the newest of the
   * answers that are due on it: Node closes it then, with the answers to what was pipelined behind.
   */
  #closeAfter(response: Response): void {
    const earlier = this.#lastOn.get(response.req.socket);
    if (earlier && !earlier.headersSent) earlier.removeHeader('Connection');
    if (!response.headersSent) response.setHeader('Connection', 'close');
    this.#lastOn.set(response.req.socket, response);
  }
}
