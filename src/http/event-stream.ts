import type { Response } from 'express';
import type { Connections } from '../serving/connections';
import { Outflow } from '../serving/outflow';
import type { CloseCode, Peer, SessionFactory, SessionHandler } from '../serving/session';

/** Time without an event, in ms, after which a comment is sent: proxies close connections that are silent for longer. */
const KEEP_ALIVE_MS = 15_000;
/** A comment, which clients ignore. */
const KEEP_ALIVE = ':\n\n';

/**
 * An answer that goes on: what is said is sent as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html), each a message; the last one, of the type `close`,
 * says why there are no more. What the client says comes with requests of its own.
 */
export function serveEventStream(
  response: Response,
  connections: Connections,
  openSession: SessionFactory,
  keepAliveMs = KEEP_ALIVE_MS,
): void {
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Accel-Buffering', 'no'); // else nginx would keep events until there are many
  response.flushHeaders();
  const outflow = new Outflow(response);
  const peer = new EventPeer(response, connections, outflow);
  const talk = openSession(peer);
  outflow.onRoom = () => bounded(talk, () => talk.onDrain());
  const timer = setInterval(() => bounded(talk, () => peer.keepAlive()), keepAliveMs).unref();
  response.on('close', () => {
    clearInterval(timer);
    bounded(talk, () => talk.onClose());
  });
}

/** What a listener or a timer throws would be an uncaught error of the process. */
function bounded(talk: SessionHandler, listen: () => void): void {
  try {
    listen();
  } catch (error) {
    talk.onError(error);
  }
}

class EventPeer implements Peer {
  readonly #response: Response;
  readonly #connections: Connections;
  readonly #outflow: Outflow;
  /** Nothing was sent since `keepAlive` was called last. */
  #isSilent = false;

  constructor(response: Response, connections: Connections, outflow: Outflow) {
    this.#response = response;
    this.#connections = connections;
    this.#outflow = outflow;
  }

  get bufferedBytes(): number {
    return this.#outflow.bytes;
  }

  /** @param message in one line */
  send(message: string): void {
    this.#isSilent = false;
    if (!this.#response.writableEnded) this.#write(`data: ${message}\n\n`);
  }

  /** Sends a comment if there was no event since the last call, and the client reads. */
  keepAlive(): void {
    const isDue = this.#isSilent && this.bufferedBytes === 0 && !this.#response.writableEnded;
    this.#isSilent = true;
    if (isDue) this.#write(KEEP_ALIVE);
  }

  #write(text: string): void {
    this.#response.write(text, this.#outflow.add(text.length));
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

  setIdle(isQuiet: boolean): void {
    const { socket } = this.#response.req;
    if (isQuiet) this.#connections.markIdle(socket, null);
    else this.#connections.markBusy(socket);
  }
}
