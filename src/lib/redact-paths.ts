/** First line of a message, with absolute paths shortened to file names. */
export function redactPaths(message: string): string {
  const [line = ''] = message.split('\n');
  return line.replaceAll(/(?<![\w.-])(?:\/[^\s/:'"]+)+\/(?=[^\s/:'"]+)/g, '');
}
