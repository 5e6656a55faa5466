import type { Response } from 'express';
import type { Connections } from '../serving/connections';
import { SendBuffer } from '../serving/send-buffer';
import { type CloseCode, type Peer, runInSession, type SessionFactory } from '../serving/session';

/** Time without an event after which a comment is sent, in ms: proxies close silent connections. */
const KEEP_ALIVE_MS = 15_000;
/** Comment that clients ignore. */
const KEEP_ALIVE = ':\n\n';

/**
 * Sends the messages of a session as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). The last event has the type `close` and contains
 * the close code. The client sends its messages in separate requests.
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
  response.setHeader('X-Accel-Buffering', 'no'); // Disables buffering in nginx.
  response.flushHeaders();
  const sendBuffer = new SendBuffer(response);
  const peer = new EventPeer(response, connections, sendBuffer);
  const session = openSession(peer);
  sendBuffer.onDrain = () => runInSession(session, () => session.onDrain());
  const timer = setInterval(
    () => runInSession(session, () => peer.keepAlive()),
    keepAliveMs,
  ).unref();
  response.on('close', () => {
    clearInterval(timer);
    runInSession(session, () => session.onClose());
  });
}

class EventPeer implements Peer {
  readonly #response: Response;
  readonly #connections: Connections;
  readonly #sendBuffer: SendBuffer;
  /** Whether no event was sent since the last call of `keepAlive`. */
  #isSilent = false;

  constructor(response: Response, connections: Connections, sendBuffer: SendBuffer) {
    this.#response = response;
    this.#connections = connections;
    this.#sendBuffer = sendBuffer;
  }

  get bufferedBytes(): number {
    return this.#sendBuffer.bytes;
  }

  /** @param message without line breaks */
  send(message: string): void {
    this.#isSilent = false;
    if (!this.#response.writableEnded) this.#write(`data: ${message}\n\n`);
  }

  /** Sends a comment if no event was sent since the last call and the client reads. */
  keepAlive(): void {
    const isDue = this.#isSilent && this.bufferedBytes === 0 && !this.#response.writableEnded;
    this.#isSilent = true;
    if (isDue) this.#write(KEEP_ALIVE);
  }

  #write(text: string): void {
    this.#response.write(text, this.#sendBuffer.add(text.length));
  }

  close(code: CloseCode, reason: string): void {
    const data = JSON.stringify({ code, reason });
    if (!this.#response.writableEnded) this.#response.end(`event: close\ndata: ${data}\n\n`);
  }

  /** No flow control: the response to POST /stream/ID is sent when the stream accepts more samples. */
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
