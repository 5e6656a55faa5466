import { isTooDeep } from '../serving/json';

/** JSON in a string, such as the arguments of a tool call of a language model. */
export interface JsonText {
  /** Keys, strings and numbers in their order, unescaped; for a string that contains JSON the texts in that JSON. */
  readonly texts: readonly string[];
  /** The same JSON with `texts` replaced and everything else unchanged. @param texts of the same length */
  readonly write: (texts: readonly string[]) => string;
  /** The JSON with all strings unescaped. It is not valid JSON: for inspection only. */
  readonly decoded: string;
}

/** A string or number token of the JSON. */
interface Token {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** JSON in the string; null: the string contains no JSON. */
  readonly json: JsonText | null;
}

/** Maximum nesting of JSON in strings of JSON. Each level doubles the escapes. */
const MAX_NESTING = 8;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Parses JSON in a string. @returns null: the string is not a JSON object or array */
export function readJsonText(source: string, nested = MAX_NESTING): JsonText | null {
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

/** The text; if it is a JSON object or array, with all strings unescaped. */
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

/** Tokens of valid JSON. */
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

/**
 * Texts in the tool calls of a language model, with JSON unescaped: arguments of functions, inputs of custom tools, and
 * all other fields except names and IDs.
 *
 * @param calls `tool_calls` of a message of OpenAI's API or of LiteLLM, not validated
 */
export function textsOfToolCalls(calls: readonly unknown[]): readonly string[] {
  return calls.flatMap((call) =>
    entriesOf(call)
      .filter(([key]) => !NAMES.includes(key))
      .flatMap(([, called]) => (typeof called === 'object' ? fieldsOf(called) : [called]))
      .flatMap(textOf),
  );
}

/** Texts in one call, `{ name, arguments }`, with JSON unescaped. Arguments can be a string or a JSON object. */
export function textsOfToolCall(called: unknown): readonly string[] {
  return fieldsOf(called).flatMap(textOf);
}

/** Fields without text of the language model. */
const NAMES = ['id', 'type', 'index', 'name'];

function fieldsOf(called: unknown): readonly unknown[] {
  return entriesOf(called).flatMap(([key, value]) => (NAMES.includes(key) ? [] : [value]));
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown): readonly string[] {
  if (value === null || value === undefined || typeof value === 'boolean') return [];
  return [decodedJson(typeof value === 'string' ? value : JSON.stringify(value))];
}
