import { channel } from 'node:diagnostics_channel';
import { ExpectedError } from './engine-error';

/** Log fields of an unexpected error, without its message: the message can quote client data. */
export interface UnexpectedError {
  /** Class name of the error. */
  readonly type: string;
  /** Lines of the stack trace. */
  readonly at: readonly string[];
}

const reports = channel('libtorch-serve.unexpected-error');
const MAX_LINES = 10;

export function describeUnexpected(raised: unknown): UnexpectedError {
  if (!(raised instanceof Error)) return { type: typeof raised, at: [] };
  const { stack = '', message } = raised;
  // The stack begins with the message, which can contain text that resembles a stack line.
  const end = stack.indexOf(message) + message.length;
  const lines = stack.slice(0, end).endsWith(message) ? stack.slice(end).split('\n') : [];
  const at = lines.map((line) => line.trim()).filter((line) => line.startsWith('at '));
  return { type: raised.constructor.name, at: at.slice(0, MAX_LINES) };
}

/**
 * Message of an error for clients. Messages of unexpected errors can contain client data or internals: they are
 * replaced, and the error is reported to the log.
 */
export function messageForClients(raised: unknown): string {
  if (raised instanceof ExpectedError) return raised.message;
  const { code, errno } = (raised ?? {}) as NodeJS.ErrnoException;
  if (typeof errno === 'number') return `cannot be read: ${code}`;
  reports.publish(describeUnexpected(raised));
  return 'an unexpected error; see the log';
}

/** Registers a listener for errors whose message was replaced. */
export function onUnexpected(listener: (error: UnexpectedError) => void): void {
  reports.subscribe((error) => listener(error as UnexpectedError));
}
