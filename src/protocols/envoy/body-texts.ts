import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../serving/json';
import { readJsonText } from '../json-text';
import { type FieldPath, findTexts, type TextField } from './text-fields';

/** The texts of a body. */
export interface BodyTexts {
  readonly texts: readonly string[];
  /** Serializes the body with other texts. @param texts as many as `texts` has */
  readonly write: (texts: readonly string[]) => Buffer;
}

export interface BodyPaths {
  /** Paths of the texts in JSON. */
  readonly json: readonly FieldPath[];
  /** Paths of the texts in the JSON of each event of text/event-stream. */
  readonly events: readonly FieldPath[];
}

const DATA = 'data:';

/**
 * Finds the texts of a body: in JSON the texts at the paths, in text/event-stream the texts of all events, in any other
 * text the whole body.
 *
 * @param bytes not empty
 * @returns null: the body is not readable
 */
export function readBody(
  bytes: Buffer,
  headers: ReadonlyMap<string, string>,
  paths: BodyPaths,
): BodyTexts | null {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity' || !isUtf8(bytes)) return null;
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/event-stream') return readEvents(bytes, paths.events);
  if (type === '' || /[/+]json$/.test(type)) return readJson(bytes, paths.json);
  if (!type.startsWith('text/')) return null;
  // Some servers parse JSON with a content type of text, and escapes would hide its texts.
  if (/^\s*[[{]/.test(bytes.toString('latin1', 0, 100)) && jsonOf(bytes) !== undefined) {
    return readJson(bytes, paths.json);
  }
  return { texts: [bytes.toString()], write: ([text = '']) => Buffer.from(text) };
}

function readJson(bytes: Buffer, paths: readonly FieldPath[]): BodyTexts | null {
  const json = jsonOf(bytes);
  if (json === undefined) return null;
  const { texts, replace } = joinFields(findTexts(json, paths).map((field) => [field]));
  return {
    texts,
    write: (changed) => {
      replace(changed);
      return Buffer.from(JSON.stringify(json));
    },
  };
}

/** Joins the fields of each group to one text, or to the texts of the JSON if the group is tool data. */
function joinFields(groups: readonly (readonly TextField[])[]) {
  const joined = groups.map((fields) => {
    const whole = fields.map(({ text }) => text).join('');
    const json = fields[0]?.isToolData ? readJsonText(whole) : null;
    return { fields, whole, texts: json?.texts ?? [whole], write: json?.write };
  });
  return {
    texts: joined.flatMap(({ texts }) => texts),
    /** Puts each changed text into the first field of its group and empties the other fields. */
    replace: (changed: readonly string[]): void => {
      let next = 0;
      for (const { fields, whole, write, texts } of joined) {
        const own = changed.slice(next, next + texts.length);
        next += texts.length;
        const written = write ? write(own) : (own[0] as string);
        if (written === whole) continue;
        for (const [index, { replace }] of fields.entries()) replace(index === 0 ? written : '');
      }
    },
  };
}

/** A line of text/event-stream. */
interface EventLine {
  readonly line: string;
  /** Data of the line; undefined: the line has no JSON data. */
  readonly json: unknown;
}

/** Reads the texts of all events. Texts at the same path are joined, since events contain a text in pieces. */
function readEvents(bytes: Buffer, paths: readonly FieldPath[]): BodyTexts | null {
  const text = bytes.toString().replace(/^\ufeff/, ''); // clients skip a byte order mark
  const lines = text.split(/\r\n|\n|\r/).map(readLine);
  if (lines.some(({ line, json }) => json === undefined && expectsJson(line))) return null;
  const byPath = new Map<string, TextField[]>();
  for (const { json } of lines) {
    for (const field of findTexts(json, paths)) {
      const group = byPath.get(field.path);
      if (group) group.push(field);
      else byPath.set(field.path, [field]);
    }
  }
  const { texts, replace } = joinFields([...byPath.values()]);
  return {
    texts,
    write: (changed) => {
      replace(changed);
      const written = lines.map(({ line, json }) =>
        json === undefined ? line : `${DATA} ${JSON.stringify(json)}`,
      );
      return Buffer.from(written.join('\n'));
    },
  };
}

function readLine(line: string): EventLine {
  return {
    line,
    json: expectsJson(line) ? jsonOf(Buffer.from(line.slice(DATA.length))) : undefined,
  };
}

/** The last event of OpenAI, `[DONE]`, is not JSON. */
function expectsJson(line: string): boolean {
  const data = line.startsWith(DATA) ? line.slice(DATA.length).trim() : '';
  return data !== '' && data !== '[DONE]';
}

/** Undefined: not JSON, or an object has a duplicate name, of which other parsers may use the other value. */
function jsonOf(bytes: Buffer): unknown {
  try {
    const json = parseJson(bytes);
    return countMembers(json) === countColons(bytes) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Members of all nested objects. `parseJson` limits the depth. */
function countMembers(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 0;
  const values = Object.values(json);
  const own = Array.isArray(json) ? 0 : values.length;
  return values.reduce<number>((sum, value) => sum + countMembers(value), own);
}

/** Colons outside of strings in valid JSON: one per member of an object. */
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
