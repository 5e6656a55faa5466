/** Line of a list of texts, with its line number from 1. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

/** Splits a text into lines. Blank lines are omitted, but counted in the line numbers. */
export function splitLines(text: string): readonly Line[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '');
}
