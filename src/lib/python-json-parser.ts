import { floatText, MARK } from './python-json';
import { TimeSlice } from './time-slice';

/** Keys that JavaScript moves to the front of an object. */
const INDEX_KEY = /^(?:0|[1-9]\d*)$/;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Letters of an exponent. */
const [UPPER_E, LOWER_E] = [0x45, 0x65];
const SPACE = 0x20;

/** Tokens that are read without a look at the clock. */
const TOKENS_PER_CHECK = 256;

/**
 * Parses valid JSON for `dumpJson` and `entriesOf`, in time slices except for `JSON.parse`. Whole floats, integers beyond
 * 2^53 and keys that are numbers become marked strings: JavaScript would change their digits or their order. Otherwise
 * the structure is that of `JSON.parse`.
 */
export async function parseForPython(json: string): Promise<unknown> {
  const turns = new TimeSlice();
  let [marked, copied, tokens] = ['', 0, 0];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    const isNumber = code === MINUS || (code >= ZERO && code <= NINE);
    if (code !== QUOTE && !isNumber) continue;
    const end = isNumber ? endOfNumber(json, at) : endOfString(json, at);
    const text = isNumber ? numberText(json, at, end) : indexKey(json, at, end);
    if (text !== null) {
      marked += `${json.slice(copied, at)}"${MARK}${text}"`;
      copied = end;
    }
    at = end - 1;
    if (++tokens % TOKENS_PER_CHECK === 0 && turns.isExpired) await turns.yieldToEventLoop();
  }
  return JSON.parse(copied === 0 ? json : marked + json.slice(copied));
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1;
  for (; end < json.length; end++) {
    const code = json.charCodeAt(end);
    const isDigit = code >= ZERO && code <= NINE;
    if (!isDigit && code !== DOT && code !== LOWER_E && code !== UPPER_E) {
      if (code !== MINUS && code !== PLUS) break;
    }
  }
  return end;
}

function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}

/** The key of an object if JavaScript would move it; null: another string. */
function indexKey(json: string, start: number, end: number): string | null {
  const first = json.charCodeAt(start + 1);
  if (first !== BACKSLASH && !(first >= ZERO && first <= NINE)) return null;
  let next = end;
  while (json.charCodeAt(next) <= SPACE) next++;
  if (json.charCodeAt(next) !== COLON) return null;
  const written = json.slice(start + 1, end - 1);
  const key = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
  return INDEX_KEY.test(key) ? key : null;
}

/**
 * Text of a number after `json.loads` and `json.dumps` of Python; null: `dumpJson` finds it from the number of
 * JavaScript.
 */
function numberText(json: string, start: number, end: number): string | null {
  const token = json.slice(start, end);
  const value = Number(token);
  if (!Number.isInteger(value) && Number.isFinite(value)) return null;
  if (/[.eE]/.test(token)) return floatText(value);
  return Number.isSafeInteger(value) ? null : token;
}
