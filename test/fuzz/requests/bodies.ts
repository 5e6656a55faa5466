import type { Draw } from '../draw';
import { writeDeep, writeMember, writeStrangeMember, writeValue } from './json';
import { type Route, writeMembers, writeWrong } from './routes';

const BYTE_ORDER_MARK = '\ufeff';

/** Bytes that are no UTF-8: cut off, overlong, surrogates, beyond U+10FFFF. */
const NO_UTF8: readonly Buffer[] = [
  [0x80],
  [0xc3],
  [0xc0, 0xaf],
  [0xe0, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xfe],
  [0xff],
].map((bytes) => Buffer.from(bytes));

/** How a body came about, for the report. */
export interface Body {
  readonly what: string;
  readonly bytes: Buffer;
}

type Maker = (draw: Draw, route: Route, tag: string) => string | Buffer;

const KINDS: readonly (readonly [weight: number, kind: { what: string; make: Maker }])[] = [
  [
    50,
    {
      what: 'as it should be',
      make: (draw, route, tag) => object(draw, writeMembers(draw, route, tag)),
    },
  ],
  [6, { what: 'a field of a wrong type', make: wrongField }],
  [4, { what: 'a field missing', make: missingField }],
  [6, { what: 'duplicate keys', make: duplicateKeys }],
  [6, { what: 'strange keys', make: strangeKeys }],
  [3, { what: 'any JSON', make: (draw) => writeValue(draw) }],
  [1, { what: 'deep', make: deep }],
  [5, { what: 'bytes changed', make: bytesChanged }],
  [3, { what: 'cut off', make: cutOff }],
  [3, { what: 'no UTF-8', make: noUtf8 }],
  [2, { what: 'another encoding', make: anotherEncoding }],
  [2, { what: 'white space around it', make: whiteSpace }],
  [1, { what: 'nothing', make: () => '' }],
  [
    1,
    {
      what: 'any bytes',
      make: (draw) => Buffer.from(draw.list(draw.size(300), () => draw.below(256))),
    },
  ],
];

/** A body for a route; nearly half of them are refused, in all the ways that there are. */
export function makeBody(draw: Draw, route: Route, tag: string): Body {
  const { what, make } = draw.weighted(KINDS);
  const made = make(draw, route, tag);
  return { what, bytes: typeof made === 'string' ? Buffer.from(made) : made };
}

function object(draw: Draw, members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, value]) => writeMember(draw, key, value))}}`;
}

function wrongField(draw: Draw, route: Route, tag: string): string {
  const members = writeMembers(draw, route, tag);
  const member = draw.pick(members);
  member[1] = writeWrong(draw, route, tag);
  return object(draw, members);
}

function missingField(draw: Draw, route: Route, tag: string): string {
  const members = writeMembers(draw, route, tag);
  members.splice(draw.below(members.length), 1);
  return object(draw, members);
}

/** The last one counts. */
function duplicateKeys(draw: Draw, route: Route, tag: string): string {
  const members = writeMembers(draw, route, tag);
  const again = writeMembers(draw, route, tag);
  const wrong = members.map(([key]) => [key, writeWrong(draw, route, tag)] as const);
  return object(draw, draw.chance(0.5) ? [...members, ...wrong] : [...wrong, ...again]);
}

function strangeKeys(draw: Draw, route: Route, tag: string): string {
  const members = writeMembers(draw, route, tag).map(([key, value]) =>
    writeMember(draw, key, value),
  );
  // A prototype that would have the fields, were it one.
  if (draw.chance(0.2)) return `{"__proto__":{${members}}}`;
  const strange = draw.list(draw.between(1, 3), () => writeStrangeMember(draw));
  return `{${draw.chance(0.5) ? [...strange, ...members] : [...members, ...strange]}}`;
}

function deep(draw: Draw, route: Route, tag: string): string {
  const members = writeMembers(draw, route, tag);
  return draw.chance(0.3) ? writeDeep(draw) : object(draw, [...members, ['deep', writeDeep(draw)]]);
}

function valid(draw: Draw, route: Route, tag: string): Buffer {
  return Buffer.from(object(draw, writeMembers(draw, route, tag)));
}

function bytesChanged(draw: Draw, route: Route, tag: string): Buffer {
  const bytes = valid(draw, route, tag);
  const syntax = Buffer.from('{}[]",:\\0-1.eE+tfn \n\0\x80\xff', 'latin1');
  for (let edits = draw.size(4); edits > 0; edits--) {
    bytes[draw.below(bytes.length)] = draw.chance(0.5)
      ? draw.below(256)
      : (syntax[draw.below(syntax.length)] as number);
  }
  return bytes;
}

function cutOff(draw: Draw, route: Route, tag: string): Buffer {
  const bytes = valid(draw, route, tag);
  return bytes.subarray(0, draw.below(bytes.length));
}

function noUtf8(draw: Draw, route: Route, tag: string): Buffer {
  const bytes = valid(draw, route, tag);
  const at = draw.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), draw.pick(NO_UTF8), bytes.subarray(at)]);
}

function anotherEncoding(draw: Draw, route: Route, tag: string): Buffer {
  const bytes = valid(draw, route, tag);
  const text = bytes.toString();
  return draw.pick([
    () => Buffer.from(BYTE_ORDER_MARK + text),
    () => Buffer.from(BYTE_ORDER_MARK + BYTE_ORDER_MARK + text),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.from(BYTE_ORDER_MARK + text, 'utf16le'),
    () => Buffer.from(text, 'latin1'),
    () => Buffer.from(text, 'utf16le').swap16(),
  ])();
}

function whiteSpace(draw: Draw, route: Route, tag: string): string {
  const [before, after] = [0, 1].map(() =>
    draw.pick([' ', '\n', '\t\r\n', '\v', '\f', '\u00a0', '//', '\0']),
  );
  return `${before}${object(draw, writeMembers(draw, route, tag))}${after}`;
}
