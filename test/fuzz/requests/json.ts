import type { Draw } from '../draw';
import { makeString } from '../strings';

/** How deep bodies go. */
const DEEPEST = 10_000;

const NUMBERS: readonly string[] = [
  ...[
    '0',
    '-0',
    '-0.0',
    '0e0',
    '0E-999',
    '1',
    '-1',
    '1.0',
    '1E0',
    '1e+2',
    '0.1',
    '1e-7',
    '123456789',
  ],
  ...['1e308', '-1e308', '1.7976931348623157e308', '1.7976931348623159e308', '1e309', '-1e400'],
  ...['5e-324', '2.2250738585072014e-308', '2e-324', '-3e-320', '4.9e-324', '1e-400', '1e-99999'],
  ...['9007199254740993', '18446744073709551616', '0.30000000000000004', `1${'0'.repeat(400)}`],
  ...[`0.${'0'.repeat(400)}1`, `1${'0'.repeat(308)}`, '1e99999', '123456789012345678901234567890'],
];
/** What other languages take for a number, and JSON does not. */
const NO_NUMBERS: readonly string[] = [
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    '+1',
    '01',
    '1.',
    '.5',
    '1e',
    '0x10',
    '1_000',
    '--1',
    '١',
    '1n',
  ],
];
const KEYS: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'length',
    '',
    '\0',
    'a',
  ],
  ...['text', 'texts', 'signal', 'signals', 'patient_id', 'Text', 'ｔext', 'text\0', ' text'],
];

/** A JSON string, its characters escaped now and then as JSON allows. */
export function writeString(draw: Draw, text: string): string {
  const style = draw.below(8);
  if (style > 1) return JSON.stringify(text);
  let written = '"';
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const isRaw = unit >= 0x20 && unit < 0x7f && unit !== 0x22 && unit !== 0x5c && draw.chance(0.5);
    const digits = unit.toString(16).padStart(4, '0');
    written += isRaw ? text[i] : `\\u${style === 0 ? digits : digits.toUpperCase()}`;
  }
  return `${written}"`;
}

export function writeNumber(draw: Draw): string {
  return draw.weighted<() => string>([
    [4, () => String((draw.below(20_000) - 10_000) / 100)],
    [2, () => draw.pick(NUMBERS)],
    [1, () => `${draw.below(100) - 50}e${draw.below(640) - 330}`],
  ])();
}

/** Any JSON, or hardly any. */
export function writeValue(draw: Draw, depth = 0): string {
  const isLeaf = depth > 4;
  return draw.weighted<() => string>([
    [3, () => draw.pick(['null', 'true', 'false', '{}', '[]', '""'])],
    [3, () => writeNumber(draw)],
    [3, () => writeString(draw, makeString(draw, 20))],
    [isLeaf ? 0 : 2, () => `[${draw.list(draw.below(4), () => writeValue(draw, depth + 1))}]`],
    [isLeaf ? 0 : 2, () => writeObject(draw, depth)],
    [0.3, () => draw.pick(NO_NUMBERS)],
  ])();
}

/** `"key":value`, keys that mean something in JavaScript among them. */
export function writeMember(draw: Draw, key: string, value: string): string {
  const space = draw.chance(0.1) ? draw.pick([' ', '\n', '\t', '\r\n ']) : '';
  return `${space}${writeString(draw, key)}${space}:${space}${value}${space}`;
}

export function writeStrangeMember(draw: Draw): string {
  return writeMember(draw, draw.pick(KEYS), writeValue(draw));
}

/** Arrays or objects in one another, closed or not. */
export function writeDeep(draw: Draw): string {
  const depth = draw.pick([10, 500, DEEPEST]);
  const [open, close] = draw.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[[],{"__proto__":', '}]'],
  ] as const);
  const inner = draw.pick(['1', 'null', '']);
  return open.repeat(depth) + inner + close.repeat(draw.chance(0.8) ? depth : draw.below(depth));
}

function writeObject(draw: Draw, depth: number): string {
  const members = draw.list(draw.below(4), () =>
    writeMember(draw, draw.pick(KEYS), writeValue(draw, depth + 1)),
  );
  return `{${members}}`;
}
