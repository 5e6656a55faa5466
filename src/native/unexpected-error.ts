import { channel } from 'node:diagnostics_channel';
import { ExpectedError } from './engine-error';

/** What the log may have of an error that no code raised on purpose: its message may quote what a client sent. */
export interface UnexpectedError {
  /** Name of its class. */
  readonly type: string;
  /** Lines of its stack. */
  readonly at: readonly string[];
}

const reports = channel('libtorch-serve.unexpected-error');
const MAX_LINES = 10;

export function describeUnexpected(raised: unknown): UnexpectedError {
  if (!(raised instanceof Error)) return { type: typeof raised, at: [] };
  const { stack = '', message } = raised;
  // The message is part of the stack, and may look like a line of it.
  const end = stack.indexOf(message) + message.length;
  const lines = stack.slice(0, end).endsWith(message) ? stack.slice(end).split('\n') : [];
  const at = lines.map((line) => line.trim()).filter((line) => line.startsWith('at '));
  return { type: raised.constructor.name, at: at.slice(0, MAX_LINES) };
}

/**
 * The message of an error, for clients, if it was raised for them. Any other error may have any text, such as
 * V8's own: it is reported to the log.
 */
export function messageForClients(raised: unknown): string {
  if (raised instanceof ExpectedError) return raised.message;
  const { code, errno } = (raised ?? {}) as NodeJS.ErrnoException;
  if (typeof errno === 'number') return `cannot be read: ${code}`;
  reports.publish(describeUnexpected(raised));
  return 'an unexpected error, which the log describes';
}

/** Called for each error that was kept from clients. */
export function onUnexpected(listener: (error: UnexpectedError) => void): void {
  reports.subscribe((error) => listener(error as UnexpectedError));
}
