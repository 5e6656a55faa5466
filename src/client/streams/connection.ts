import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import { sleep } from '../abort-signals';

/** The used part of the WebSocket API: global in browsers and from Node.js 22 on, or from the package `ws`. */
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

/** Opens WebSockets to one path. */
export interface SocketRoute {
  connect(): WebSocketLike;
  /** Requests the path to find out why the handshake failed, which a WebSocket does not report. */
  findError(signal: AbortSignal): Promise<unknown>;
}

/** Close codes of the server, see src/serving/session.ts. */
export const CLOSE = { goingAway: 1001, notFound: 4404, conflict: 4409 };

/** A message of the server. */
export type Message = Partial<StreamOpened & WindowResult & GapNotice> & {
  readonly error?: { readonly detail: string };
  readonly end?: object;
};

/** Maximum number of buffered bytes of a WebSocket, and the delay until the next check in ms. */
const MAX_BUFFERED_BYTES = 65_536;
const BUFFER_CHECK_MS = 5;
/** Interval of checks for a silent connection, in ms. */
export const SILENCE_CHECK_MS = 1000;

/** Close code without a close frame (RFC 6455, 7.4.1). */
export const BROKEN = 1006;
const NORMAL = 1000;
const INVALID_JSON = 1007;

/** One WebSocket and its messages. */
export class Connection {
  /** Resolves to false if the handshake failed. */
  readonly opened: Promise<boolean>;
  /** Never rejects. */
  readonly closed: Promise<Closing>;
  /** `performance.now()` at the last message, or when no message was due. */
  #lastMessageAt = performance.now();
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
      this.closed.then(() => resolve(false)).catch(() => {}); // Never rejects.
    });
    socket.addEventListener('error', () => {}); // 'close' follows.
    socket.addEventListener('close', ({ code, reason }) => this.#close({ code, reason }));
    socket.addEventListener('message', ({ data }) => this.#receive(data));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Waits until the WebSocket has sent most of its buffer. @returns false if the connection is not open */
  async untilWritable(): Promise<boolean> {
    while (this.#isOpen && this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      await sleep(BUFFER_CHECK_MS, undefined);
    }
    return this.#isOpen;
  }

  /** Sends a binary message or JSON. Ignored if the connection is not open. */
  send(message: object): void {
    if (!this.#isOpen) return;
    this.#socket.send(message instanceof ArrayBuffer ? message : JSON.stringify(message));
  }

  /** Closes the connection and ignores further messages, without waiting for the server. */
  close(closing: Closing = { code: NORMAL, reason: '' }): void {
    this.#close(closing);
    this.#socket.close(NORMAL);
  }

  /** Whether a message is due, and the last one arrived at least `timeoutMs` ago. */
  isSilent(isDue: boolean, timeoutMs: number): boolean {
    if (!isDue) this.#lastMessageAt = performance.now();
    return performance.now() - this.#lastMessageAt >= timeoutMs;
  }

  #receive(data: unknown): void {
    this.#lastMessageAt = performance.now();
    let message: unknown;
    try {
      message = JSON.parse(String(data));
    } catch {
      this.close({ code: INVALID_JSON, reason: 'The server sent a message that is not JSON.' });
    }
    if (typeof message === 'object' && message !== null) this.#onMessage?.(message);
  }
}

/** Encodes samples in the stream's format; other messages are returned unchanged. */
export function encodeMessage(
  message: Float64Array | Float32Array | object,
  format: 'json' | 'f32' | undefined,
): object {
  if (!(message instanceof Float64Array || message instanceof Float32Array)) return message;
  if (format !== 'f32') return Array.from(message); // Numbers that are not finite become null.
  const view = new DataView(new ArrayBuffer(message.length * Float32Array.BYTES_PER_ELEMENT));
  for (let i = 0; i < message.length; i++) view.setFloat32(i * 4, message[i] as number, true);
  return view.buffer;
}
