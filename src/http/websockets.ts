import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { type BodyLimits, ByteBudget, PIECE_BYTES, SMALL_BYTES } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { Outflow } from '../serving/outflow';
import type { CloseCode, Peer, SessionFactory, SessionHandler } from '../serving/session';
import { PATIENCE_MS } from '../serving/timeouts';

/** Spoken where a client asks for it by name. */
const SUBPROTOCOL = 'libtorch-serve.stream';
/** Before a key that a browser's page sends, which can set no headers: of the key, base64url follows. */
const KEY_SUBPROTOCOL = 'libtorch-serve.key.';
/** Parts in which a message may come: each takes hundreds of bytes, whatever it holds. */
const MOST_FRAGMENTS = 1024;
/** What has come of a frame that is not whole, in as many pieces as the network makes of it. */
const MOST_CHUNKS = 8192;
/** Answers to pings that a client does not read. */
const MOST_PONGS = 16;
/** A control frame of a client beside its payload: two bytes, and four of the mask (RFC 6455, 5.2). */
const CONTROL_HEAD_BYTES = 6;
/** How long a client may take to close its side, in ms. */
const CLOSE_TIMEOUT_MS = 2000;

/** Makes WebSockets of connections (RFC 6455), without compression: a small message could be a large one. */
export class WebSockets {
  readonly #server: WebSocketServer;
  readonly #connections: Connections;
  /** Of messages that have come in part: those of slow senders make room. */
  readonly #partly: ByteBudget<Socket>;
  /** Answers what is no handshake: of the request that is being looked at. */
  #refuse: (message: string) => void = () => {};

  constructor({ bodyLimit: maxPayload, bodyMemory: limit }: BodyLimits, connections: Connections) {
    this.#connections = connections;
    this.#partly = new ByteBudget({
      limit,
      patienceMs: PATIENCE_MS,
      cut: (socket) => connections.abort(socket, 'body_stuck'),
    });
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
      maxFragments: MOST_FRAGMENTS,
      maxBufferedChunks: MOST_CHUNKS,
      // Options that @types/ws does not have.
      ...{ maxPendingAutoPongs: MOST_PONGS, closeTimeout: CLOSE_TIMEOUT_MS },
      handleProtocols: (offered: ReadonlySet<string>) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
    });
    this.#server.on('wsClientError', ({ message }) => this.#refuse(message));
  }

  /**
   * The handshake, and what follows it.
   *
   * @param refuse answers what is no handshake
   */
  accept(
    request: IncomingMessage,
    head: Buffer,
    {
      openSession,
      refuse,
    }: { readonly openSession: SessionFactory; refuse(message: string): void },
  ): void {
    this.#refuse = refuse;
    this.#server.handleUpgrade(request, request.socket, head, (webSocket) => {
      this.#listen(webSocket, request.socket, openSession);
    });
    this.#refuse = () => {};
  }

  /** Apart from where the request is known: what listens would keep it for as long as the connection is open. */
  #listen(webSocket: WebSocket, socket: Socket, openSession: SessionFactory): void {
    try {
      const outflow = new Outflow(socket);
      const peer = new WebSocketPeer({ webSocket, socket, outflow }, this.#connections);
      connect(openSession(peer), { webSocket, outflow, incoming: this.#budget(socket) });
    } catch (error) {
      webSocket.terminate(); // an error over HTTP would be no frame
      throw error;
    }
  }

  /** Bounds what is held of a message that is on its way. */
  #budget(socket: Socket): Incoming {
    const partly = this.#partly;
    let bytes = 0;
    /** Bytes of all that came since the last message, and of the control frames among them. */
    let came = 0;
    let controls = 0;
    let isCounted = false;
    // Before the listener of `ws`, which tells of whole messages.
    socket.prependListener('data', (chunk: Buffer) => {
      bytes += chunk.length + PIECE_BYTES;
      came += chunk.length;
      if (bytes <= SMALL_BYTES) return;
      if (isCounted) partly.add(socket, chunk.length + PIECE_BYTES);
      else partly.begin(socket, bytes);
      isCounted = true;
      if (!partly.hasRoomFor(0, socket)) this.#connections.abort(socket, 'body_stuck');
    });
    const message = (): void => {
      [bytes, came, controls] = [0, 0, 0];
      if (isCounted) partly.end(socket);
      isCounted = false;
    };
    const control = (payload: Buffer): void => {
      controls += CONTROL_HEAD_BYTES + payload.length;
      // Else parts of a message, or of the next control frame, have come as well.
      if (controls >= came) message();
    };
    return { message, control };
  }
}

/** What has come whole on a connection, and is held no longer. */
interface Incoming {
  message(): void;
  /** A ping or a pong, which may come between the parts of a message. */
  control(payload: Buffer): void;
}

interface Connected {
  readonly webSocket: WebSocket;
  readonly outflow: Outflow;
  readonly incoming: Incoming;
}

function connect(talk: SessionHandler, { webSocket, outflow, incoming }: Connected): void {
  // What a listener throws would be an uncaught error of the process.
  const bounded = (listen: () => void): void => {
    try {
      listen();
    } catch (error) {
      talk.onError(error);
    }
  };
  // A message comes as one Buffer: that is what `binaryType` is by default.
  webSocket.on('message', (data, isBinary) =>
    bounded(() => {
      incoming.message();
      if (isBinary) talk.onBinary(data as Buffer);
      else talk.onText(data as Buffer);
    }),
  );
  // A frame that is none: the close message says so, and `close` follows.
  webSocket.on('error', ignore);
  webSocket.on('close', () =>
    bounded(() => {
      incoming.message();
      talk.onClose();
    }),
  );
  webSocket.on('ping', (payload) => bounded(() => incoming.control(payload)));
  webSocket.on('pong', (payload) => bounded(() => incoming.control(payload)));
  outflow.onRoom = () => bounded(() => talk.onDrain());
}

function ignore(): void {}

/** The key that a page sends among its subprotocols; null: none, or more than one. */
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
  readonly outflow: Outflow;
}

class WebSocketPeer implements Peer {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #outflow: Outflow;
  readonly #connections: Connections;

  constructor({ webSocket, socket, outflow }: PeerParts, connections: Connections) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#outflow = outflow;
    this.#connections = connections;
  }

  get bufferedBytes(): number {
    return this.#outflow.bytes;
  }

  send(message: string): void {
    this.#webSocket.send(message, this.#outflow.add(message.length));
  }

  close(code: CloseCode, reason: string): void {
    this.#webSocket.resume(); // else nobody would see the other side close
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
