import type { Socket } from 'node:net';

/** The open connections, those first whose client has been silent for longest. */
export class Connections {
  /** When each was accepted, in ms of `performance.now()`; until its first request. */
  readonly #fresh = new Map<Socket, number>();

  opened(socket: Socket): void {
    this.#fresh.set(socket, performance.now());
  }

  /** A request has arrived: its headers. */
  asked(socket: Socket): void {
    this.#fresh.delete(socket);
  }

  closed(socket: Socket): void {
    this.#fresh.delete(socket);
  }

  /** Whether one that was accepted less than `ms` ago has not sent a request yet. */
  isRequestDue(ms: number): boolean {
    const now = performance.now();
    for (const openedAt of this.#fresh.values()) if (now - openedAt < ms) return true;
    return false;
  }
}
