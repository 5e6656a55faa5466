/** Default maximum length of a message, in characters. */
const MAX_LENGTH = 1500;

/** Escapes control characters and line breaks of a message that quotes files, and truncates it. */
export function printable(message: string, longest = MAX_LENGTH): string {
  const start = message.length > longest ? `${message.slice(0, longest)}…` : message;
  return start.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
