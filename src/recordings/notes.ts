import type { UnreadableChannel } from './recording';

/** "1 marker is skipped", "2 markers are skipped". */
export function skipped(count: number, what: string): string {
  return count === 1 ? `1 ${what} is skipped` : `${count} ${what}s are skipped`;
}

/** Note for each channel that cannot be read. */
export function skippedNotes(unreadable: readonly UnreadableChannel[]): readonly string[] {
  return unreadable.map(({ label, reason }) => `“${label}” is skipped: it ${reason}.`);
}
