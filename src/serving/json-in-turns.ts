import { Turns } from '../lib/in-turns';
import { responseTooLarge } from './response-size';

/** Values that are written at once: some 50 microseconds of work. 64 characters of a string count as one. */
const AT_ONCE = 500;
const CHARACTERS = 64;
/** Values of a body that is written in one turn. */
const SMALL = 4 * AT_ONCE;
/** Pieces are joined until they have so many characters. */
const PIECE = 64 * 1024;

/** Whether the JSON of a body takes so long to write that it has to be done in turns. */
export function isLarge(body: object): boolean {
  return left(body, SMALL) < 0;
}

/**
 * What `JSON.stringify` makes of a body, written in turns; typed arrays in it become lists.
 *
 * @param most bytes that it may have
 * @throws ServiceError RESPONSE_TOO_LARGE
 */
export async function jsonInTurns(body: object, most: number): Promise<Buffer> {
  const written: Buffer[] = [];
  let [bytes, piece] = [0, ''];
  const turns = new Turns();
  const flush = (): void => {
    const buffer = Buffer.from(piece);
    piece = '';
    bytes += buffer.length;
    if (bytes > most) throw responseTooLarge(bytes, most);
    written.push(buffer);
  };
  for (const text of pieces(body)) {
    piece += text;
    if (piece.length >= PIECE) flush();
    if (turns.isOver) await turns.rest();
  }
  flush();
  return Buffer.concat(written, bytes);
}

function* pieces(value: unknown): Generator<string> {
  if (isNumbers(value)) {
    yield* numbers(value);
  } else if (typeof value !== 'object' || value === null || left(value, AT_ONCE) >= 0) {
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
  for (let first = 0; first < list.length; first += AT_ONCE) {
    const some = Array.from(list.subarray(first, first + AT_ONCE));
    yield `${first > 0 ? ',' : ''}${JSON.stringify(some).slice(1, -1)}`;
  }
  yield ']';
}

function* elements(list: readonly unknown[]): Generator<string> {
  yield '[';
  let [first, room] = [0, AT_ONCE];
  for (let index = 0; index < list.length; index++) {
    room = left(list[index], room);
    if (room >= 0) continue;
    const before = list.slice(first, index);
    if (before.length > 0) yield `${first > 0 ? ',' : ''}${JSON.stringify(before).slice(1, -1)}`;
    if (index > 0) yield ',';
    yield* pieces(list[index]);
    first = index + 1;
    room = AT_ONCE;
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

/** What is left of `room` when the values in this one have been counted; below 0: there are more. */
function left(value: unknown, room: number): number {
  if (typeof value === 'string') return room - 1 - Math.floor(value.length / CHARACTERS);
  if (typeof value !== 'object' || value === null) return room - 1;
  // It is no list to JSON.stringify.
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
