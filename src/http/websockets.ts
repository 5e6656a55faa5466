import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { SendBuffer } from '../serving/send-buffer';
import {
  type CloseCode,
  type Peer,
  runInSession,
  type SessionFactory,
  type SessionHandler,
} from '../serving/session';
import { HOLD_TIMEOUT_MS } from '../serving/timeouts';

/** Subprotocol, confirmed if the client offers it. */
const SUBPROTOCOL = 'libtorch-serve.stream';
/** Prefix of a subprotocol that contains an API key in base64url. Browser pages cannot set headers. */
const KEY_SUBPROTOCOL = 'libtorch-serve.key.';
/** Maximum number of fragments of a message; each takes hundreds of bytes. */
const MAX_FRAGMENTS = 1024;
/** Maximum number of network chunks of an incomplete frame. */
const MAX_CHUNKS = 8192;
/** Maximum number of unsent pongs. */
const MAX_PONGS = 16;
/** Header of a client's control frame: two bytes and a mask of four bytes (RFC 6455, 5.2). */
const CONTROL_HEADER_BYTES = 6;
/** Maximum time for the client to close its side, in ms. */
const CLOSE_TIMEOUT_MS = 2000;

/** Upgrades connections to WebSockets (RFC 6455), without compression, which would hide large messages. */
export class WebSockets {
  readonly #server: WebSocketServer;
  readonly #connections: Connections;
  /** Memory of incomplete messages. Slow senders are disconnected if it is used up. */
  readonly #incomplete: ByteBudget<Socket>;
  /** Rejects the current request if its handshake is invalid. */
  #reject: (message: string) => void = () => {};

  constructor({ bodyLimit: maxPayload, bodyMemory: limit }: BodyLimits, connections: Connections) {
    this.#connections = connections;
    this.#incomplete = new ByteBudget({
      limit,
      holdTimeoutMs: HOLD_TIMEOUT_MS,
      abort: (socket) => connections.abort(socket, 'body_stalled'),
    });
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_CHUNKS,
      // Options that @types/ws lacks.
      ...{ maxPendingAutoPongs: MAX_PONGS, closeTimeout: CLOSE_TIMEOUT_MS },
      handleProtocols: (offered: ReadonlySet<string>) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
    });
    this.#server.on('wsClientError', ({ message }) => this.#reject(message));
  }

  /**
   * Completes the handshake and opens a session.
   *
   * @param reject responds to an invalid handshake
   */
  accept(
    request: IncomingMessage,
    head: Buffer,
    {
      openSession,
      reject,
    }: { readonly openSession: SessionFactory; reject(message: string): void },
  ): void {
    this.#reject = reject;
    this.#server.handleUpgrade(request, request.socket, head, (webSocket) => {
      this.#listen(webSocket, request.socket, openSession);
    });
    this.#reject = () => {};
  }

  /** A separate method: closures of the listeners would keep the request in memory. */
  #listen(webSocket: WebSocket, socket: Socket, openSession: SessionFactory): void {
    try {
      const sendBuffer = new SendBuffer(socket);
      const peer = new WebSocketPeer({ webSocket, socket, sendBuffer }, this.#connections);
      connect(openSession(peer), { webSocket, sendBuffer, incoming: this.#limit(socket) });
    } catch (error) {
      webSocket.terminate(); // An HTTP error would not be a frame.
      throw error;
    }
  }

  /** Limits the memory of an incomplete message. */
  #limit(socket: Socket): Incoming {
    const incomplete = this.#incomplete;
    let bytes = 0;
    /** Received bytes since the last message, and control frames among them. */
    let received = 0;
    let controls = 0;
    let isCounted = false;
    // Before the listener of `ws`, which emits complete messages.
    socket.prependListener('data', (chunk: Buffer) => {
      bytes += chunk.length + PIECE_BYTES;
      received += chunk.length;
      if (bytes <= SMALL_BYTES) return;
      if (isCounted) incomplete.add(socket, chunk.length + PIECE_BYTES);
      else incomplete.begin(socket, bytes);
      isCounted = true;
      if (!incomplete.hasRoomFor(0, socket)) this.#connections.abort(socket, 'body_stalled');
    });
    const onMessage = (): void => {
      [bytes, received, controls] = [0, 0, 0];
      if (isCounted) incomplete.end(socket);
      isCounted = false;
    };
    const onControl = (payload: Buffer): void => {
      controls += CONTROL_HEADER_BYTES + payload.length;
      // Otherwise the bytes belong to an incomplete message or control frame.
      if (controls >= received) onMessage();
    };
    return { onMessage, onControl };
  }
}

/** Releases the memory of complete messages. */
interface Incoming {
  onMessage(): void;
  /** Called for a ping or a pong, which can arrive between the fragments of a message. */
  onControl(payload: Buffer): void;
}

interface Connected {
  readonly webSocket: WebSocket;
  readonly sendBuffer: SendBuffer;
  readonly incoming: Incoming;
}

function connect(session: SessionHandler, { webSocket, sendBuffer, incoming }: Connected): void {
  // A message is one Buffer: the default `binaryType`.
  webSocket.on('message', (data, isBinary) =>
    runInSession(session, () => {
      incoming.onMessage();
      if (isBinary) session.onBinary(data as Buffer);
      else session.onText(data as Buffer);
    }),
  );
  webSocket.on('error', ignore); // 'close' follows, after a close message for an invalid frame.
  webSocket.on('close', () =>
    runInSession(session, () => {
      incoming.onMessage();
      session.onClose();
    }),
  );
  for (const event of ['ping', 'pong'] as const) {
    webSocket.on(event, (payload) => runInSession(session, () => incoming.onControl(payload)));
  }
  sendBuffer.onDrain = () => runInSession(session, () => session.onDrain());
}

function ignore(): void {}

/** API key in the offered subprotocols; null if none or several. */
export function keyOfSubprotocols(header: string | undefined): string | null {
  const keys = (header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name.startsWith(KEY_SUBPROTOCOL));
  const [key, ...others] = keys;
  if (key === undefined || others.length > 0) return null;
  return Buffer.from(key.slice(KEY_SUBPROTOCOL.length), 'base64url').toString('latin1');
}

interface PeerParts {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly sendBuffer: SendBuffer;
}

class WebSocketPeer implements Peer {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #sendBuffer: SendBuffer;
  readonly #connections: Connections;

  constructor({ webSocket, socket, sendBuffer }: PeerParts, connections: Connections) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#sendBuffer = sendBuffer;
    this.#connections = connections;
  }

  get bufferedBytes(): number {
    return this.#sendBuffer.bytes;
  }

  send(message: string): void {
    this.#webSocket.send(message, this.#sendBuffer.add(message.length));
  }

  close(code: CloseCode, reason: string): void {
    this.#webSocket.resume(); // A paused socket would not report the client's close frame.
    this.#webSocket.close(code, reason);
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }

  destroy(): void {
    this.#webSocket.terminate();
  }

  setIdle(isQuiet: boolean): void {
    if (isQuiet) this.#connections.markIdle(this.#socket, null);
    else this.#connections.markBusy(this.#socket);
  }
}
