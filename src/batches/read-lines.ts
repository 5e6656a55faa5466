import { createReadStream } from 'node:fs';
import { LineBuffer } from '../files/readers/line-buffer';

const NEWLINE = 0x0a;
const BLANK = /^[ \t\r]*$/;
/** Longer lines are not blank: white space of this length would be a line of its own. */
const MAX_BLANK_BYTES = 64;

/** A line of an input file that is not blank. */
export interface Line {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Null: longer than the limit. */
  readonly bytes: Buffer | null;
}

/** Reads a file line by line, without its blank lines. @param maxBytes maximum length of a line */
export async function* readLines(file: string, maxBytes: number): AsyncGenerator<Line> {
  const buffer = new LineBuffer(maxBytes);
  let number = 0;
  for await (const block of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      const bytes = buffer.finish(block.subarray(start, end));
      number++;
      start = end + 1;
      if (!isBlank(bytes)) yield { number, bytes };
    }
    buffer.append(block.subarray(start));
  }
  const bytes = buffer.finish(Buffer.alloc(0));
  if (!isBlank(bytes)) yield { number: number + 1, bytes };
}

function isBlank(bytes: Buffer | null): boolean {
  return bytes !== null && bytes.length <= MAX_BLANK_BYTES && BLANK.test(bytes.toString('latin1'));
}
