import { isUtf8 } from 'node:buffer';
import { ServiceError } from './errors';

const BYTE_ORDER_MARK = '\ufeff';
/** Far more than any body needs. V8 takes ten times as long for 1 MB of brackets as for one of numbers. */
export const MOST_LEVELS = 100;

/** Whether arrays and objects are nested deeper than `MOST_LEVELS`, of JSON or of what pretends to be. */
export function isTooDeep(json: Buffer): boolean {
  if (countOpenings(json) <= MOST_LEVELS) return false;
  // Constants in here are part of the compiled loop; those of a module would be looked up each time.
  const most = MOST_LEVELS;
  const quote = 0x22;
  const openArray = 0x5b;
  const closeArray = 0x5d;
  const openObject = 0x7b;
  const closeObject = 0x7d;
  let levels = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] as number;
    if (byte < openArray) {
      // Digits, commas and spaces: nearly all there is.
      if (byte === quote) {
        i = endOfString(json, i);
        if (i < 0) return false;
      }
    } else if (byte === openArray || byte === openObject) {
      if (++levels > most) return true;
    } else if (byte === closeArray || byte === closeObject) {
      levels--;
    }
  }
  return false;
}

/** Brackets and braces that open, those in strings included; at most a few more than `MOST_LEVELS`. */
function countOpenings(json: Buffer): number {
  let count = 0;
  for (const opening of [0x5b, 0x7b]) {
    for (let i = json.indexOf(opening); i >= 0; i = json.indexOf(opening, i + 1)) {
      if (++count > MOST_LEVELS) return count;
    }
  }
  return count;
}

/** Where the string that begins at `start` has its closing quote; -1: nowhere. */
function endOfString(json: Buffer, start: number): number {
  const [quote, backslash] = [0x22, 0x5c];
  for (let end = json.indexOf(quote, start + 1); end >= 0; end = json.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** @throws ServiceError BODY_INVALID: says what is wrong with it */
export function parseJson(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new ServiceError('BODY_INVALID', 'body: is required');
  }
  // Decoding would put U+FFFD in the place of what is not UTF-8.
  if (!isUtf8(bytes)) throw new ServiceError('BODY_INVALID', 'body: is not valid UTF-8');
  if (isTooDeep(bytes)) {
    throw new ServiceError('BODY_INVALID', `body: is nested over ${MOST_LEVELS} levels deep`);
  }
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    throw new ServiceError('BODY_INVALID', `body: is not valid JSON${position(error)}`);
  }
}

/** V8's message also quotes the body, which has no place in an answer. */
function position(error: unknown): string {
  const digits = / at position (\d+)/.exec((error as SyntaxError).message)?.[1];
  return digits === undefined ? '' : ` (at position ${digits})`;
}
