/** Start of errors about the configuration of a text model. */
const DEFAULT = 'config.json: ';

/** An error message with the location of the configuration, see `TextModelSource.configLocation`. */
export function withConfigLocation(message: string, location: string = DEFAULT): string {
  return message.startsWith(DEFAULT) ? `${location}${message.slice(DEFAULT.length)}` : message;
}
