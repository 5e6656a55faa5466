import type { Response } from 'express';
import type { Connections } from '../serving/connections';
import type { CloseCode, Converse, Peer } from '../serving/conversation';

/**
 * An answer that goes on: what is said is sent as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html), each a message; the last one, of the type `close`,
 * says why there are no more. What the client says comes with requests of its own.
 */
export function converseByEvents(
  response: Response,
  connections: Connections,
  converse: Converse,
): void {
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Accel-Buffering', 'no'); // else nginx would keep events until there are many
  response.flushHeaders();
  const talk = converse(new EventPeer(response, connections));
  response.on('drain', () => talk.drained());
  response.on('close', () => talk.closed());
}

class EventPeer implements Peer {
  readonly #response: Response;
  readonly #connections: Connections;

  constructor(response: Response, connections: Connections) {
    this.#response = response;
    this.#connections = connections;
  }

  get unsent(): number {
    return this.#response.writableLength;
  }

  /** @param message in one line */
  send(message: string): void {
    if (!this.#response.writableEnded) this.#response.write(`data: ${message}\n\n`);
  }

  close(code: CloseCode, reason: string): void {
    const said = JSON.stringify({ code, reason });
    if (!this.#response.writableEnded) this.#response.end(`event: close\ndata: ${said}\n\n`);
  }

  /** Whoever brings samples is answered when they have been taken. */
  pause(): void {}

  resume(): void {}

  destroy(): void {
    this.#response.destroy();
  }

  setQuiet(isQuiet: boolean): void {
    const { socket } = this.#response.req;
    if (isQuiet) this.#connections.waits(socket, null);
    else this.#connections.owes(socket);
  }
}
