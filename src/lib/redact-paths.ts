/** First line of a message, with paths shortened to file names. */
export function redactPaths(message: string): string {
  const [line = ''] = message.split('\n');
  return line.replaceAll(/(?:\/[^\s/:'"]+)+\/(?=[^\s/:'"]+)/g, '');
}
