import { isTooDeep } from '../serving/json';

/** JSON within a text: arguments that a language model calls a tool with. */
export interface JsonText {
  /** Keys, strings and numbers, in their order, without escapes; of strings that are JSON what is in them. */
  readonly texts: readonly string[];
  /** The same JSON with others in their places, all else as it was written. @param texts as many */
  readonly write: (texts: readonly string[]) => string;
  /** All of it, with strings without their escapes: for those who only read. */
  readonly decoded: string;
}

/** A string or a number. */
interface Token {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Of a string that is JSON. */
  readonly json: JsonText | null;
}

/** JSON in a string of JSON, and so on: each level doubles its escapes. */
const MOST_NESTED = 8;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** @returns null: the text is no object or array of JSON */
export function readJsonText(source: string, nested = MOST_NESTED): JsonText | null {
  if (!/^\s*[[{]/.test(source) || !isJson(source)) return null;
  const tokens = tokensOf(source, nested);
  const texts = tokens.flatMap(({ text, json }) => json?.texts ?? [text]);
  return {
    texts,
    write: (changed) => {
      let next = 0;
      return spliced(source, tokens, ({ start, end, json, text }) => {
        const before = json?.texts ?? [text];
        const after = changed.slice(next, next + before.length);
        next += before.length;
        const isChanged = after.some((one, index) => one !== before[index]);
        if (!isChanged) return source.slice(start, end);
        return JSON.stringify(json ? json.write(after) : after[0]);
      });
    },
    decoded: spliced(source, tokens, ({ start, end, json, text }) =>
      source[start] === '"' ? `"${json?.decoded ?? text}"` : source.slice(start, end),
    ),
  };
}

/** A text, without the escapes of JSON where it is JSON. */
export function decodedJson(text: string): string {
  return readJsonText(text)?.decoded ?? text;
}

function isJson(source: string): boolean {
  if (isTooDeep(Buffer.from(source))) return false;
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

/** @param source JSON */
function tokensOf(source: string, nested: number): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < source.length; at++) {
    const end = source[at] === '"' ? endOfString(source, at) : endOfNumber(source, at);
    if (end === at) continue;
    const written = source.slice(at, end);
    const text = written.startsWith('"') ? (JSON.parse(written) as string) : written;
    const json = written.startsWith('"') && nested > 0 ? readJsonText(text, nested - 1) : null;
    tokens.push({ start: at, end, text, json });
    at = end - 1;
  }
  return tokens;
}

function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (source[at] !== '"') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfNumber(source: string, start: number): number {
  NUMBER.lastIndex = start;
  return NUMBER.test(source) ? NUMBER.lastIndex : start;
}

function spliced(
  source: string,
  tokens: readonly Token[],
  written: (token: Token) => string,
): string {
  let at = 0;
  const pieces = tokens.map((token) => {
    const before = source.slice(at, token.start);
    at = token.end;
    return before + written(token);
  });
  return pieces.join('') + source.slice(at);
}
