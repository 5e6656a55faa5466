/** What of a WebSocket is used: the global one of browsers and of Node.js from 22 on, and that of `ws`. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  send(data: string | ArrayBuffer): void;
  close(code?: number): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: Closing) => void): void;
}

export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** How a WebSocket of a path is opened. */
export interface SocketRoute {
  connect(): WebSocketLike;
  /** Why it was not opened, of which a WebSocket says nothing. */
  refusal(signal: AbortSignal): Promise<unknown>;
}

/** RFC 6455, 7.4.1: there was no close message. */
export const BROKEN = 1006;
const NORMAL = 1000;
const NO_JSON = 1007;

/** One WebSocket, and what comes on it. */
export class Connection {
  /** Whether it was opened; then `closed` says how it ended. */
  readonly opened: Promise<boolean>;
  readonly closed: Promise<Closing>;
  /** `performance.now()` when something came last. */
  heardAt = performance.now();
  readonly #socket: WebSocketLike;
  #onMessage: ((message: object) => void) | null;
  #isOpen = false;
  #close: (closing: Closing) => void = () => {};

  constructor(socket: WebSocketLike, onMessage: (message: object) => void) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    socket.binaryType = 'arraybuffer';
    this.closed = new Promise((resolve) => {
      this.#close = (closing) => {
        this.#isOpen = false;
        this.#onMessage = null;
        resolve(closing);
      };
    });
    this.opened = new Promise((resolve) => {
      socket.addEventListener('open', () => {
        this.#isOpen = true;
        resolve(true);
      });
      this.closed.then(() => resolve(false)).catch(() => {}); // `closed` is never rejected
    });
    socket.addEventListener('error', () => {}); // `close` follows
    socket.addEventListener('close', ({ code, reason }) => this.#close({ code, reason }));
    socket.addEventListener('message', ({ data }) => this.#hear(data));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes that have not gone out. */
  get unsent(): number {
    return this.#socket.bufferedAmount;
  }

  /** JSON, or binary. */
  send(message: object): void {
    if (!this.#isOpen) return;
    this.#socket.send(message instanceof ArrayBuffer ? message : JSON.stringify(message));
  }

  /** Nothing of it is heard any more, whether the other side is there or not. */
  leave(closing: Closing = { code: NORMAL, reason: '' }): void {
    this.#close(closing);
    this.#socket.close(NORMAL);
  }

  #hear(data: unknown): void {
    this.heardAt = performance.now();
    let message: unknown;
    try {
      message = JSON.parse(String(data));
    } catch {
      this.leave({ code: NO_JSON, reason: 'The service says what is no JSON.' });
    }
    if (typeof message === 'object' && message !== null) this.#onMessage?.(message);
  }
}

/** Samples as they are sent, or what is said of them. */
export function messageOf(
  piece: Float64Array | Float32Array | object,
  format: 'json' | 'f32' | undefined,
): object {
  if (!(piece instanceof Float64Array || piece instanceof Float32Array)) return piece;
  if (format !== 'f32') return Array.from(piece); // what is not finite becomes null
  const view = new DataView(new ArrayBuffer(piece.length * Float32Array.BYTES_PER_ELEMENT));
  for (let i = 0; i < piece.length; i++) view.setFloat32(i * 4, piece[i] as number, true);
  return view.buffer;
}
