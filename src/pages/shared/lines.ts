/** A line of a list of texts, by the number that an editor would show. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines that hold something; blank ones are left out, and keep their numbers to themselves. */
export function splitLines(text: string): readonly Line[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '');
}
