import { isUtf8 } from 'node:buffer';
import { TimeSlice } from '../lib/time-slice';
import { ServiceError } from './errors';

const BYTE_ORDER_MARK = '\ufeff';
/** `application/json` or `application/<anything>+json`, then optional parameters. */
const JSON_MEDIA_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
/** Maximum nesting depth. V8 parses 1 MB of brackets ten times slower than 1 MB of numbers. */
export const MAX_DEPTH = 100;

/** Whether arrays and objects are nested deeper than `MAX_DEPTH`, of JSON or of what pretends to be. */
export function isTooDeep(json: Buffer): boolean {
  if (countOpenings(json) <= MAX_DEPTH) return false;
  // Local constants are compiled into the loop; module constants would be looked up each time.
  const most = MAX_DEPTH;
  const quote = 0x22;
  const openArray = 0x5b;
  const closeArray = 0x5d;
  const openObject = 0x7b;
  const closeObject = 0x7d;
  let levels = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] as number;
    if (byte < openArray) {
      // Digits, commas and spaces: most of a body.
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

/** Brackets and braces that open, those in strings included; at most a few more than `MAX_DEPTH`. */
function countOpenings(json: Buffer): number {
  let count = 0;
  for (const opening of [0x5b, 0x7b]) {
    for (let i = json.indexOf(opening); i >= 0; i = json.indexOf(opening, i + 1)) {
      if (++count > MAX_DEPTH) return count;
    }
  }
  return count;
}

/** Index of the closing quote of the string that starts at `start`; -1: none. */
function endOfString(json: Buffer, start: number): number {
  const [quote, backslash] = [0x22, 0x5c];
  for (let end = json.indexOf(quote, start + 1); end >= 0; end = json.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/**
 * Rejects a media type other than JSON.
 *
 * @param type Content-Type; undefined or empty: counts as JSON
 * @throws ServiceError MEDIA_TYPE_UNSUPPORTED
 */
export function requireJsonType(type: string | undefined): void {
  if (!type || type === 'application/json') return;
  if (!JSON_MEDIA_TYPE.test(type)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The Content-Type must be application/json.');
  }
  const charset = CHARSET.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The charset of JSON must be utf-8.');
  }
}

/**
 * Parses a request body as strict UTF-8 JSON.
 *
 * @param bytes a Buffer; others count as a missing body
 * @throws ServiceError BODY_INVALID
 */
export function parseJson(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new ServiceError('BODY_INVALID', 'body: is required');
  }
  // Decoding would replace invalid UTF-8 with U+FFFD.
  if (!isUtf8(bytes)) throw new ServiceError('BODY_INVALID', 'body: is not valid UTF-8');
  if (isTooDeep(bytes)) {
    throw new ServiceError('BODY_INVALID', `body: nested more than ${MAX_DEPTH} levels deep`);
  }
  try {
    return JSON.parse(jsonText(bytes));
  } catch (error) {
    throw new ServiceError('BODY_INVALID', `body: is not valid JSON${position(error)}`);
  }
}

/** The text of a body without a byte order mark. */
export function jsonText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Position from V8's message. The rest of the message quotes the body, and is not sent. */
function position(error: unknown): string {
  const digits = / at position (\d+)/.exec((error as SyntaxError).message)?.[1];
  return digits === undefined ? '' : ` (at position ${digits})`;
}

/** Number of values that are serialized in one step, about 50 µs. 64 characters of a string count as one value. */
const VALUES_PER_STEP = 500;
const CHARACTERS_PER_VALUE = 64;
/** Number of values of a response that is serialized in one turn of the event loop. */
const VALUES_PER_TURN = 4 * VALUES_PER_STEP;
/** Characters that are joined into one Buffer. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Whether a response body is so large that it is serialized over several turns of the event loop. */
export function isLarge(body: object): boolean {
  return left(body, VALUES_PER_TURN) < 0;
}

/**
 * Serializes a body like `JSON.stringify`, over several turns of the event loop. Typed arrays become lists.
 *
 * @param maxBytes RESPONSE_LIMIT
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export async function jsonInTurns(body: object, maxBytes: number): Promise<Buffer> {
  const written: Buffer[] = [];
  let [bytes, chunk] = [0, ''];
  const turns = new TimeSlice();
  const flush = (): void => {
    const buffer = Buffer.from(chunk);
    chunk = '';
    bytes += buffer.length;
    if (bytes > maxBytes) throw responseTooLarge(bytes, maxBytes);
    written.push(buffer);
  };
  for (const text of pieces(body)) {
    chunk += text;
    if (chunk.length >= CHUNK_CHARACTERS) flush();
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  flush();
  return Buffer.concat(written, bytes);
}

function* pieces(value: unknown): Generator<string> {
  if (isNumbers(value)) {
    yield* numbers(value);
  } else if (typeof value !== 'object' || value === null || left(value, VALUES_PER_STEP) >= 0) {
    yield JSON.stringify(value) ?? 'null';
  } else if (Array.isArray(value)) {
    yield* elements(value);
  } else {
    yield* members(value as Readonly<Record<string, unknown>>);
  }
}

function isNumbers(value: unknown): value is Float32Array | Uint32Array {
  return ArrayBuffer.isView(value);
}

function* numbers(list: Float32Array | Uint32Array): Generator<string> {
  yield '[';
  for (let first = 0; first < list.length; first += VALUES_PER_STEP) {
    const some = Array.from(list.subarray(first, first + VALUES_PER_STEP));
    yield `${first > 0 ? ',' : ''}${JSON.stringify(some).slice(1, -1)}`;
  }
  yield ']';
}

function* elements(list: readonly unknown[]): Generator<string> {
  yield '[';
  let [first, room] = [0, VALUES_PER_STEP];
  for (let index = 0; index < list.length; index++) {
    room = left(list[index], room);
    if (room >= 0) continue;
    const before = list.slice(first, index);
    if (before.length > 0) yield `${first > 0 ? ',' : ''}${JSON.stringify(before).slice(1, -1)}`;
    if (index > 0) yield ',';
    yield* pieces(list[index]);
    first = index + 1;
    room = VALUES_PER_STEP;
  }
  const rest = list.slice(first);
  if (rest.length > 0) yield `${first > 0 ? ',' : ''}${JSON.stringify(rest).slice(1, -1)}`;
  yield ']';
}

function* members(object: Readonly<Record<string, unknown>>): Generator<string> {
  let separator = '{';
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* pieces(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** Subtracts the number of values in `value` from `room`; below 0: there are more values than room. */
function left(value: unknown, room: number): number {
  if (typeof value === 'string') return room - 1 - Math.floor(value.length / CHARACTERS_PER_VALUE);
  if (typeof value !== 'object' || value === null) return room - 1;
  // JSON.stringify would write a typed array as an object.
  if (isNumbers(value)) return -1;
  let rest = room - 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i], rest);
    return rest;
  }
  for (const key in value) {
    rest = left((value as Readonly<Record<string, unknown>>)[key], rest - 1);
    if (rest < 0) break;
  }
  return rest;
}

/** Maximum bytes of a float32 in a response: shortest JSON form, JSON of its double, binary. */
export const FLOAT_JSON_BYTES = 12;
export const DOUBLE_JSON_BYTES = 22;
export const FLOAT_BYTES = 4;
/** Bytes of a score with punctuation in JSON, without its label. */
export const SCORE_JSON_BYTES = 32;

/**
 * Checks the size of a response before the model runs.
 *
 * @param bytes size, computed from the shape of the request
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export function requireResponseSize(bytes: number, limit: number): void {
  if (bytes > limit) throw responseTooLarge(Math.ceil(bytes), limit);
}

export function responseTooLarge(bytes: number, limit: number): ServiceError {
  return new ServiceError(
    'RESPONSE_TOO_LARGE',
    `The response would have at least ${bytes} bytes, over the limit of ${limit} (RESPONSE_LIMIT). Send fewer or shorter inputs per request.`,
  );
}

const sizes = new WeakMap<readonly string[], number>();

/** Maximum bytes of the scores of all labels in JSON. Cached per list of labels. */
export function scoresBytes(labels: readonly string[]): number {
  const known = sizes.get(labels);
  if (known !== undefined) return known;
  const bytes = labels.reduce((sum, label) => sum + label.length + SCORE_JSON_BYTES, 0);
  sizes.set(labels, bytes);
  return bytes;
}
