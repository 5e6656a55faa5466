import { readFileSync } from 'node:fs';
import path from 'node:path';
import { printable } from '../printable';
import { lookAt, ModelFileError } from './look';

/** A label takes about 50 bytes of config.json, twice. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_VALUES = 1_000_000;
/** Files of models have about 4 levels. */
const MOST_LEVELS = 64;

/** What an error may quote of a file, in characters. */
const LONGEST_QUOTE = 200;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const OPENING = new Set([...'[{'].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((bracket) => bracket.charCodeAt(0)));

/**
 * The content of a JSON file of a model, within bounds of size that no model comes near.
 *
 * @returns null: there is no such file
 * @throws ModelFileError
 */
export function readModelText(directory: string, name: string): string | null {
  const size = lookAt(directory, name);
  if (size === null) return null;
  if (size > MOST_BYTES) {
    throw new ModelFileError(`has ${size} bytes, expected at most ${MOST_BYTES}`);
  }
  try {
    return readFileSync(path.join(directory, name), 'utf8');
  } catch (error) {
    throw new ModelFileError(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** @throws ModelFileError for what is no JSON, and for what is nested deeper than any model's. */
export function parseModelJson(text: string): unknown {
  requireBounds(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, ' '); // it may quote lines of the file
    throw new ModelFileError(printable(`is not JSON: ${reason}`));
  }
}

/** Before it is parsed: what is too deep overflows the stack of whatever walks through it. */
function requireBounds(text: string): void {
  let values = 1;
  let level = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isText = !isText;
    else if (isText) i += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values += 1;
    else if (OPENING.has(code)) level += 1;
    else if (CLOSING.has(code)) level -= 1;
    if (level > MOST_LEVELS) {
      throw new ModelFileError(`is nested deeper than ${MOST_LEVELS} levels`);
    }
  }
  if (values > MOST_VALUES) {
    throw new ModelFileError(`has ${values} values, expected at most ${MOST_VALUES}`);
  }
}

/** A value of a file as an error quotes it: in one line, the start of it. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}
