import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../serving/json';
import { readJsonText } from '../json-text';
import { findTexts, type Place, type Steps } from './paths';

/** A body in which texts were looked for. */
export interface Body {
  readonly texts: readonly string[];
  /** The body with others in their places. @param texts as many */
  readonly write: (texts: readonly string[]) => Buffer;
}

export interface BodyPaths {
  /** Of JSON. */
  readonly json: readonly Steps[];
  /** Of the JSON of each event of text/event-stream. */
  readonly events: readonly Steps[];
}

const DATA = 'data:';

/**
 * Finds the texts of a body: of JSON those at the paths, of text/event-stream those of all events, of any other
 * text itself.
 *
 * @param bytes not empty
 * @returns null: it cannot be read
 */
export function readBody(
  bytes: Buffer,
  headers: ReadonlyMap<string, string>,
  paths: BodyPaths,
): Body | null {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity' || !isUtf8(bytes)) return null;
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/event-stream') return readEvents(bytes, paths.events);
  if (type === '' || /[/+]json$/.test(type)) return readJson(bytes, paths.json);
  if (!type.startsWith('text/')) return null;
  // JSON by another name: some servers read it all the same, and escapes would hide its texts.
  if (/^\s*[[{]/.test(bytes.toString('latin1', 0, 100)) && jsonOf(bytes) !== undefined) {
    return readJson(bytes, paths.json);
  }
  return { texts: [bytes.toString()], write: ([text = '']) => Buffer.from(text) };
}

function readJson(bytes: Buffer, paths: readonly Steps[]): Body | null {
  const json = jsonOf(bytes);
  if (json === undefined) return null;
  const read = readPieces(findTexts(json, paths).map((place) => [place]));
  return {
    texts: read.texts,
    write: (texts) => {
      read.put(texts);
      return Buffer.from(JSON.stringify(json));
    },
  };
}

/** Texts in one or several pieces each: what a tool is called with may be JSON, which has several texts. */
function readPieces(pieces: readonly (readonly Place[])[]) {
  const read = pieces.map((places) => {
    const whole = places.map(({ text }) => text).join('');
    const json = places[0]?.isOfCall ? readJsonText(whole) : null;
    return { places, whole, texts: json?.texts ?? [whole], write: json?.write };
  });
  return {
    texts: read.flatMap(({ texts }) => texts),
    /** Puts others in their places, in the first piece of each. */
    put: (texts: readonly string[]): void => {
      let next = 0;
      for (const { places, whole, write, texts: before } of read) {
        const after = texts.slice(next, next + before.length);
        next += before.length;
        const written = write ? write(after) : (after[0] as string);
        if (written === whole) continue;
        for (const [index, { put }] of places.entries()) put(index === 0 ? written : '');
      }
    },
  };
}

/** A line of text/event-stream. */
interface Line {
  readonly line: string;
  /** Undefined: it is no data, or none of JSON. */
  readonly json: unknown;
}

/** Events bring a text in pieces: those of one place are looked at together, and put back where the first was. */
function readEvents(bytes: Buffer, paths: readonly Steps[]): Body | null {
  const text = bytes.toString().replace(/^\ufeff/, ''); // which readers of events skip
  const lines = text.split(/\r\n|\n|\r/).map(lineOf);
  const isAllJson = lines.every(({ line, json }) => json !== undefined || !isJsonDue(line));
  if (!isAllJson) return null;
  const byPlace = new Map<string, Place[]>();
  for (const { json } of lines) {
    for (const place of findTexts(json, paths)) {
      const others = byPlace.get(place.at);
      if (others) others.push(place);
      else byPlace.set(place.at, [place]);
    }
  }
  const read = readPieces([...byPlace.values()]);
  return {
    texts: read.texts,
    write: (texts) => {
      read.put(texts);
      const written = lines.map(({ line, json }) =>
        json === undefined ? line : `${DATA} ${JSON.stringify(json)}`,
      );
      return Buffer.from(written.join('\n'));
    },
  };
}

function lineOf(line: string): Line {
  return { line, json: isJsonDue(line) ? jsonOf(Buffer.from(line.slice(DATA.length))) : undefined };
}

/** OpenAI's last event has no JSON. */
function isJsonDue(line: string): boolean {
  const data = line.startsWith(DATA) ? line.slice(DATA.length).trim() : '';
  return data !== '' && data !== '[DONE]';
}

/** Undefined: it is none, or has a name twice in an object, of which others may read the other value. */
function jsonOf(bytes: Buffer): unknown {
  try {
    const json = parseJson(bytes);
    return countMembers(json) === countColons(bytes) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Of all objects in it; it is not nested deep. */
function countMembers(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 0;
  const values = Object.values(json);
  const own = Array.isArray(json) ? 0 : values.length;
  return values.reduce<number>((sum, value) => sum + countMembers(value), own);
}

/** Those outside of strings, of valid JSON: one for each member of an object. */
function countColons(bytes: Buffer): number {
  const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
  let count = 0;
  let isString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === backslash) i++;
    else if (byte === quote) isString = !isString;
    else if (byte === colon && !isString) count++;
  }
  return count;
}
