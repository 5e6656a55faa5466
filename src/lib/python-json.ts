/** Begins a string that stands for a number or a key. Random, so that no client can send such a string. */
export const MARK = `${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}:`;

/** Members of an object of `parseForPython`, in the order of the JSON. */
export function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).map(([key, member]) => [unmarked(key), member] as const);
}

const unmarked = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);

/** `repr` of a float in Python: the shortest digits, exponents from 1e16 and below 1e-4. */
export function floatText(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    return Number.isInteger(value) ? `${text}.0` : text;
  }
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Math.abs(Number(exponent));
  return `${digits}e${size < 1 ? '-' : '+'}${String(power).padStart(2, '0')}`;
}

/**
 * `json.dumps(value, ensure_ascii=False)` of Python: separators ", " and ": ", keys in their order.
 *
 * @param value result of `parseForPython`. Numbers of JavaScript are written as integers if they are whole
 */
export function dumpJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.startsWith(MARK) ? unmarked(value) : JSON.stringify(value);
    case 'number':
      return Number.isSafeInteger(value) ? String(value) : floatText(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? dumpArray(value) : dumpObject(value);
    default:
      return JSON.stringify(value) ?? 'null';
  }
}

function dumpArray(elements: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < elements.length; index++) {
    if (index > 0) text += ', ';
    text += dumpJson(elements[index]);
  }
  return `${text}]`;
}

function dumpObject(value: object): string {
  let text = '{';
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    if (text.length > 1) text += ', ';
    text += `${JSON.stringify(unmarked(key))}: ${dumpJson(member)}`;
  }
  return `${text}}`;
}
