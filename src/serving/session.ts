/** Close codes of sessions: those of WebSockets (RFC 6455, 7.4), and our own from 4000 on. */
export const CLOSE = {
  NORMAL: 1000,
  /** The server shuts down or the model is unloaded. The reason contains the stream's cursor as JSON. */
  GOING_AWAY: 1001,
  /** The message has another type than agreed on. */
  UNSUPPORTED: 1003,
  TOO_LARGE: 1009,
  INTERNAL: 1011,
  /** Not enough memory. */
  TRY_LATER: 1013,
  /** Invalid message; the detail names the field. */
  INVALID: 4400,
  FORBIDDEN: 4403,
  /** The stream to resume does not exist. */
  NOT_FOUND: 4404,
  /** The first message is late, or the client does not read its results. */
  TIMEOUT: 4408,
  /** The stream cannot be resumed from the requested window, or another connection has resumed it. */
  CONFLICT: 4409,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

/** Expected error that closes a session; the client receives the code and the message. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
  readonly code: CloseCode;

  constructor(code: CloseCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Client side of a session, independent of the transport. */
export interface Peer {
  /** Bytes that the client has not received yet. */
  readonly bufferedBytes: number;
  send(message: string): void;
  /** Closes the connection after all sent messages. */
  close(code: CloseCode, reason: string): void;
  /** Pauses the client's messages by flow control. */
  pause(): void;
  resume(): void;
  /** Marks the connection as idle: the server may close it if it needs room for other connections. */
  setIdle(isIdle: boolean): void;
  /** Closes the connection at once and discards unsent messages. */
  destroy(): void;
}

/** Server side of a session. */
export interface SessionHandler {
  /** Handles a UTF-8 message. */
  onText(bytes: Buffer): void;
  onBinary(bytes: Buffer): void;
  /** Handles that most messages are sent, after `MAX_UNSENT_BYTES` was exceeded. */
  onDrain(): void;
  /** Handles that the connection is closed, by either side. */
  onClose(): void;
  /** Handles what a callback has thrown: ends this session only. Does not throw. */
  onError(error: unknown): void;
}

/** Starts a session on a new connection. */
export type SessionFactory = (peer: Peer) => SessionHandler;

/**
 * Runs a callback of a session. All callbacks of sockets and timers use this error boundary, because an error that
 * they throw would end the process.
 */
export function runInSession(session: Pick<SessionHandler, 'onError'>, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    session.onError(error);
  }
}
