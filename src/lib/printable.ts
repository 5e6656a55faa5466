/** What an error of a model file may take of a log line, in characters. */
const MAX_LENGTH = 1500;

/** A message that quotes files: in one line, nothing in it that a terminal would obey, and not endless. */
export function printable(message: string, longest = MAX_LENGTH): string {
  const start = message.length > longest ? `${message.slice(0, longest)}…` : message;
  return start.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
