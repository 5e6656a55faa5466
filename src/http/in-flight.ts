import type { Response } from 'express';

/** The requests that have arrived and are not answered yet, and whether new ones are refused. */
export class InFlight {
  readonly #responses = new Set<Response>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get size(): number {
    return this.#responses.size;
  }

  begin(response: Response): void {
    this.#responses.add(response);
    if (this.#isDraining) closeAfterwards(response);
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

  /** Refuses requests from now on; resolves when those that came before are answered. */
  drain(): Promise<void> {
    this.#isDraining = true;
    for (const response of this.#responses) closeAfterwards(response);
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#responses.size === 0) resolve();
    });
  }
}

/** Tells the client not to send another request on this connection. */
function closeAfterwards(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
