import { CLOSE, type CloseCode, runInSession, type SessionHandler } from '../serving/session';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';

/** Maximum time until the first message of a connection, in ms. */
const OPENING_MS = 10_000;
/** Time without a message of the client after which a connection is idle, in ms. */
const IDLE_MS = 30_000;

/** Session with timeouts. */
interface TimedSession extends Pick<SessionHandler, 'onError'> {
  /** `performance.now()` at the start. */
  readonly startedAt: number;
  /** `performance.now()` at the last message of the client. */
  readonly lastMessageAt: number;
  setIdle(isIdle: boolean): void;
  fail(code: CloseCode, detail: string): void;
}

/** Closes sessions without a first message or with unread results, and marks idle sessions. */
export class SessionTimeouts {
  /** Sessions without a first message, oldest first. */
  readonly #opening = new Set<TimedSession>();
  /** Sessions with a client that does not read its results, by the time since when. */
  readonly #blocked = new Map<TimedSession, number>();
  /** Active sessions by the time of the last idle check, oldest first. */
  readonly #active = new Map<TimedSession, number>();

  add(session: TimedSession): void {
    this.#opening.add(session);
    this.#active.set(session, session.startedAt);
  }

  onFirstMessage(session: TimedSession): void {
    this.#opening.delete(session);
  }

  onBlocked(session: TimedSession): void {
    if (!this.#blocked.has(session)) this.#blocked.set(session, performance.now());
  }

  onDrain(session: TimedSession): void {
    this.#blocked.delete(session);
  }

  /** Marks an idle session as active. */
  wake(session: TimedSession): void {
    this.#active.set(session, performance.now());
    session.setIdle(false);
  }

  remove(session: TimedSession): void {
    this.#opening.delete(session);
    this.#blocked.delete(session);
    this.#active.delete(session);
  }

  /** Called every second. */
  check(): void {
    const now = performance.now();
    for (const session of this.#opening) {
      if (now - session.startedAt < OPENING_MS) break;
      this.#opening.delete(session);
      const detail = `message: no first message within ${OPENING_MS / 1000} s`;
      runInSession(session, () => session.fail(CLOSE.TIMEOUT, detail));
    }
    for (const [session, since] of this.#blocked) {
      if (now - since < CLIENT_TIMEOUT_MS) break;
      this.#blocked.delete(session);
      runInSession(session, () => session.fail(CLOSE.TIMEOUT, 'The client does not read results.'));
    }
    for (const [session, checkedAt] of this.#active) {
      if (now - checkedAt < IDLE_MS) break;
      this.#active.delete(session);
      if (session.lastMessageAt > checkedAt) this.#active.set(session, now);
      else runInSession(session, () => session.setIdle(true));
    }
  }
}
