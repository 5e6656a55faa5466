import type { CloseCode, SessionEnd } from '../serving/session';
import type { SignalStream } from './signal-stream';
import type { StreamMemory } from './stream-memory';

/** What is said on one connection, see `conversation.ts`. */
export interface Session {
  readonly requestId: string;
  /** `performance.now()` at its beginning. */
  readonly startedAt: number;
  /** Null: it has opened none. */
  readonly stream: SignalStream | null;
  /** `performance.now()` when its client said something last. */
  readonly heardAt: number;
  /** Why it was ended; null: it was not. */
  readonly problem: SessionEnd | null;
  onText(bytes: Buffer): void;
  /** The same, parsed. */
  say(message: unknown): void;
  onBinary(bytes: Buffer): void;
  setIdle(isQuiet: boolean): void;
  fail(code: CloseCode, detail: string): void;
  /** An unexpected error: it is logged, and ends this conversation. Does not throw. */
  onError(error: unknown): void;
  /** Its stream goes on with another connection. */
  superseded(): void;
  leave(): void;
  leaveNow(): void;
  ended(): void;
}

/** What is known of a stream beside what it does. */
export interface StreamRecord {
  readonly id: string;
  readonly owner: string;
  readonly memory: StreamMemory;
  readonly openedAt: number;
  /** Of the first connection. */
  readonly requestId: string;
  /** Null: its connection is broken. */
  conversation: Session | null;
  /** `performance.now()` when it broke. */
  brokenAt: number;
}

/** Who asks for a stream by its id. */
export interface Claim {
  readonly id: string;
  /** See `Caller`. */
  readonly owner: string;
  /** That the path names. */
  readonly model: string;
}

/** What a client is told of what it said in the conversation of a stream. */
export type Reply = { readonly problem: SessionEnd } | { readonly place: SignalStream['place'] };
