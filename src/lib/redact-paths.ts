/** The first line of a message, with the names of files but not where they are. */
export function redactPaths(message: string): string {
  const [line = ''] = message.split('\n');
  return line.replaceAll(/(?:\/[^\s/:'"]+)+\/(?=[^\s/:'"]+)/g, '');
}
