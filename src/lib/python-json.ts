/** Begins a string that stands for a number or a key. Random, so that no client can send such a string. */
const MARK = `${crypto.randomUUID()}:`;

/** Keys that JavaScript moves to the front of an object. */
const INDEX_KEY = /^(?:0|[1-9]\d*)$/;
const [QUOTE, BACKSLASH, COLON, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x3a, 0x2d, 0x30, 0x39];

/**
 * Parses valid JSON for `dumpJson` and `entriesOf`. Floats, integers beyond 2^53 and keys that are numbers become marked
 * strings: JavaScript would change their digits or their order. Otherwise the structure is that of `JSON.parse`.
 */
export function parseForPython(json: string): unknown {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    const isNumber = code === MINUS || (code >= ZERO && code <= NINE);
    if (code !== QUOTE && !isNumber) continue;
    const end = isNumber ? endOfNumber(json, at) : endOfString(json, at);
    const text = isNumber ? numberText(json.slice(at, end)) : indexKey(json, at, end);
    if (text !== null) {
      pieces.push(json.slice(copied, at), JSON.stringify(MARK + text));
      copied = end;
    }
    at = end - 1;
  }
  return JSON.parse(pieces.length === 0 ? json : pieces.join('') + json.slice(copied));
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && /[\d.eE+-]/.test(json.charAt(end))) end++;
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
  while (/\s/.test(json.charAt(next))) next++;
  if (json.charCodeAt(next) !== COLON) return null;
  const key = JSON.parse(json.slice(start, end)) as string;
  return INDEX_KEY.test(key) ? key : null;
}

/** Members of an object of `parseForPython`, in the order of the JSON. */
export function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).map(([key, member]) => [unmarked(key), member] as const);
}

const unmarked = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);

/** Text of a JSON number after `json.loads` and `json.dumps` of Python; null: as in JavaScript. */
function numberText(token: string): string | null {
  if (/[.eE]/.test(token)) return floatText(Number(token));
  return Number.isSafeInteger(Number(token)) ? null : token;
}

/** `repr` of a float in Python: the shortest digits, exponents from 1e16 and below 1e-4. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 16) {
    const text = power < 0 ? fixedText(digits, power) : String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Digits of a value below 1 without an exponent. @param power exponent of the first digit, negative */
function fixedText(digits: string, power: number): string {
  const isNegative = digits.startsWith('-');
  const plain = digits.replace(/[-.]/g, '');
  return `${isNegative ? '-' : ''}0.${'0'.repeat(-power - 1)}${plain}`;
}

/**
 * `json.dumps(value, ensure_ascii=False)` of Python: separators ", " and ": ", keys in their order.
 *
 * @param value result of `parseForPython`. Numbers of JavaScript are written as integers if they are whole
 */
export function dumpJson(value: unknown): string {
  const pieces: string[] = [];
  write(value, pieces);
  return pieces.join('');
}

function write(value: unknown, pieces: string[]): void {
  if (typeof value === 'string') {
    pieces.push(value.startsWith(MARK) ? unmarked(value) : JSON.stringify(value));
  } else if (typeof value === 'number') {
    pieces.push(Number.isSafeInteger(value) ? String(value) : floatText(value));
  } else if (Array.isArray(value)) {
    pieces.push('[');
    for (const [index, element] of value.entries()) {
      if (index > 0) pieces.push(', ');
      write(element, pieces);
    }
    pieces.push(']');
  } else if (typeof value === 'object' && value !== null) {
    writeMembers(value, pieces);
  } else {
    pieces.push(JSON.stringify(value) ?? 'null');
  }
}

function writeMembers(value: object, pieces: string[]): void {
  pieces.push('{');
  let isFirst = true;
  for (const [key, member] of entriesOf(value)) {
    if (member === undefined) continue;
    pieces.push(isFirst ? '' : ', ', JSON.stringify(key), ': ');
    isFirst = false;
    write(member, pieces);
  }
  pieces.push('}');
}
