/** Why a conversation ends, as WebSockets say it (RFC 6455, 7.4); from 4000 on our own. */
export const CLOSE = {
  NORMAL: 1000,
  /** The service is shutting down, or the model is exchanged; the reason says where the stream is. */
  GOING_AWAY: 1001,
  /** What came is of another kind than was agreed on. */
  UNSUPPORTED: 1003,
  TOO_LARGE: 1009,
  INTERNAL: 1011,
  /** There is no room now. */
  TRY_LATER: 1013,
  /** A message is not as it should be; the detail names the field. */
  INVALID: 4400,
  FORBIDDEN: 4403,
  /** There is no such stream any more. */
  NOT_FOUND: 4404,
  /** The first message, or the reading of answers, took too long. */
  TIMEOUT: 4408,
  /** The stream cannot go on from there. */
  CONFLICT: 4409,
} as const;

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE];

/** Why a conversation ends, and what is wrong. */
export interface SessionEnd {
  readonly code: CloseCode;
  readonly detail: string;
}

/** The other side of a conversation, whatever transport is between. */
export interface Peer {
  /** Bytes that have not gone out yet. */
  readonly bufferedBytes: number;
  send(message: string): void;
  /** Nothing is sent any more; what was, still goes out. */
  close(code: CloseCode, reason: string): void;
  /** It is to send nothing for now. */
  pause(): void;
  resume(): void;
  /** It has said nothing for long: its connection may be closed where another one needs room. */
  setIdle(isQuiet: boolean): void;
  /** Closes the connection at once; what was sent may be lost. */
  destroy(): void;
}

/** What is made of what a peer says. */
export interface SessionHandler {
  /** A message of UTF-8. */
  onText(bytes: Buffer): void;
  onBinary(bytes: Buffer): void;
  /** After `MOST_UNSENT` was reached: most of what was sent has gone out. */
  onDrain(): void;
  /** The connection is closed, whoever did so. */
  onClose(): void;
  /** An unexpected error, which ends this session and no other one: it is logged. Does not throw. */
  onError(error: unknown): void;
}

/** Begins a conversation. */
export type SessionFactory = (peer: Peer) => SessionHandler;
