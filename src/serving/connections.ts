import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { CompactingMap } from '../lib/compacting-map';
import type { ConnectionEnd } from './metrics/metrics';

/** What a transport writes to a client before it closes a connection on which it owes nothing. */
export interface FinalResponses {
  /** All connections are in use. */
  readonly refused: string;
  /** The request was not received in time. */
  readonly late: string;
}

/** A connection whose client has the next move. */
interface IdleConnection {
  /** `performance.now()` at its acceptance, the headers of its request, or its last answer. */
  readonly since: number;
  /** A request of which the headers have come; null: none has. */
  readonly receiving: IncomingMessage | null;
  readonly hasAsked: boolean;
}

/**
 * The open connections of a port, at most `limit`. One more closes the
 * connection that has waited for its client for longest, be it for a request or for the rest of one, so
 * that those who are silent or slow keep nobody out; it is refused only where the service owes an answer
 * on all of them.
 */
export class Connections {
  readonly #limit: number;
  readonly #count: (end: ConnectionEnd) => void;
  /** Null: it closes them without a word. */
  readonly #lastWords: FinalResponses | null;
  readonly #open = new CompactingMap<Socket, true>();
  /** From the longest wait to the shortest; those with a whole request are left out when met. */
  readonly #waiting = new CompactingMap<Socket, IdleConnection>();

  constructor(
    limit: number,
    count: (end: ConnectionEnd) => void,
    lastWords: FinalResponses | null,
  ) {
    this.#limit = limit;
    this.#count = count;
    this.#lastWords = lastWords;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @param isSecure its TLS handshake is to come, before which nobody can be told anything */
  opened(socket: Socket, isSecure = false): void {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) {
      this.#count('rejected');
      if (!isSecure && this.#lastWords) socket.write(this.#lastWords.refused);
      socket.destroy();
      return;
    }
    this.#open.set(socket, true);
    this.#wait(socket, { receiving: null, hasAsked: false });
  }

  /** The handshake is done: what comes on `socket` now comes on `secure`. */
  secured(socket: Socket, secure: Socket): void {
    if (!this.#open.delete(socket)) return;
    this.#waiting.delete(socket);
    this.#open.set(secure, true);
    this.#wait(secure, { receiving: null, hasAsked: false });
  }

  has(socket: Socket): boolean {
    return this.#open.get(socket) ?? false;
  }

  /** The next move is the client's: to send the rest of this request or, where it is null, one. */
  markIdle(socket: Socket, receiving: IncomingMessage | null): void {
    this.#wait(socket, { receiving, hasAsked: true });
  }

  /** The next move is the service's: it has a whole request. */
  markBusy(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  closed(socket: Socket): void {
    this.#open.delete(socket);
    this.#waiting.delete(socket);
  }

  /** Ends one whose client does not do its part; true, for `ByteBudget`. */
  abort(socket: Socket, end: ConnectionEnd): true {
    if (this.#open.get(socket)) {
      this.closed(socket);
      this.#count(end);
      socket.destroy();
    }
    return true;
  }

  /** Ends all of them, whatever is due. */
  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /** Whether one that was accepted less than `ms` ago has not sent a request yet. */
  isRequestDue(ms: number): boolean {
    const now = performance.now();
    for (const { since, hasAsked } of this.#waiting.values()) {
      if (!hasAsked && now - since < ms) return true;
    }
    return false;
  }

  #wait(socket: Socket, state: Omit<IdleConnection, 'since'>): void {
    if (!this.#open.get(socket)) return;
    this.#waiting.delete(socket); // else it would keep its place
    this.#waiting.set(socket, { since: performance.now(), ...state });
  }

  #makeRoom(): boolean {
    const [socket, first] = this.#first() ?? [];
    if (!socket) return false;
    if (first?.receiving && this.#lastWords) socket.write(this.#lastWords.late);
    return this.abort(socket, 'evicted');
  }

  /** Who has waited for its client for longest; null: nobody waits. */
  #first(): readonly [Socket, IdleConnection] | null {
    for (const entry of this.#waiting) {
      if (!entry[1].receiving?.complete) return entry;
      this.markBusy(entry[0]);
    }
    return null;
  }
}
