/** How settings are written, and what they then are. */
import path from 'node:path';
import type { Environment } from './environment';

/** @throws Error: what was expected, and, where it is no secret, what was received */
export type Parser<Value> = (text: string, environment: Environment) => Value;

function parser<Value>(
  expected: string,
  accepts: (text: string) => boolean,
  convert: (text: string) => Value,
): Parser<Value> {
  return (text) => {
    if (accepts(text)) return convert(text);
    throw new Error(`expected ${expected}, received "${text}"`);
  };
}

/** Null: it is not set. */
export function optional<Value>(read: Parser<Value>): Parser<Value | null> {
  return (text, environment) => (text === '' ? null : read(text, environment));
}

export function integer(least: number, most: number): Parser<number> {
  return parser(
    `an integer from ${least} to ${most}`,
    (text) => /^\d{1,15}$/.test(text) && isInRange(Number(text), least, most),
    Number,
  );
}

/** A number of bytes: "1048576", "512kb", "1mb" (1 kb = 1024 bytes). */
export function bytes(most: number): Parser<number> {
  return parser(
    `a size such as 1048576, 512kb or 1mb, at most ${most} bytes`,
    (text) => /^\d{1,15} ?(?:b|kb|mb)?$/i.test(text) && isInRange(parseBytes(text), 1, most),
    parseBytes,
  );
}

/** NaN: it begins with no number. */
export function parseBytes(text: string): number {
  const unit = /kb$/i.test(text) ? 1024 : /mb$/i.test(text) ? 1024 ** 2 : 1;
  return Number.parseInt(text, 10) * unit;
}

/** A name in paths and in the requests of all protocols; folders of a directory of models have such ones. */
export const MODEL_NAME = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  expected: 'letters, digits, ".", "_" and "-", the first a letter or a digit',
};

export function modelName(): Parser<string> {
  const { pattern, expected } = MODEL_NAME;
  return parser(expected, (text) => pattern.test(text), String);
}

export function boolean(): Parser<boolean> {
  return parser(
    'true or false',
    (text) => /^(?:true|false)$/i.test(text),
    (text) => /^true$/i.test(text),
  );
}

export function oneOf<const Name extends string>(names: readonly Name[]): Parser<Name> {
  return parser(
    `one of ${names.join(', ')}`,
    (text) => names.some((name) => name === text),
    (text) => text as Name,
  );
}

/** Absolute; a relative one is so to the working directory. */
export function filePath(): Parser<string> {
  return (text, { workingDirectory }) => path.resolve(workingDirectory, text);
}

/** Undefined: all interfaces. */
export function host(): Parser<string | undefined> {
  return parser(
    'a host name or an address',
    (text) => /^\S*$/.test(text),
    (text) => text || undefined,
  );
}

/** The message does not quote it. */
export function apiKey(): Parser<string> {
  return (text) => {
    if (/^[\x21-\x7e]{1,1024}$/.test(text)) return text;
    throw new Error('expected up to 1024 visible ASCII characters without spaces');
  };
}

export function operators(): Parser<readonly string[]> {
  return parser(
    'operators such as aten::as_strided, with commas between them',
    (text) => /^(?:\w+::\w+(?:\.\w+)?(?: *, *\w+::\w+(?:\.\w+)?)*)?$/.test(text),
    splitList,
  );
}

/** Origins as browsers send them, or the one element `*`. */
export function origins(): Parser<readonly string[]> {
  return parser(
    '* or origins such as https://example.org, separated by commas',
    (text) => text === '*' || splitList(text).every(isOrigin),
    splitList,
  );
}

/** Without a path, a default port or capital letters: a browser would send none of them. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Names of hosts, in lower case as browsers send them, or the one element `*`. */
export function hostNames(): Parser<readonly string[]> {
  return parser(
    '* or names of hosts without a port such as models.example.org, separated by commas',
    (text) => text === '*' || splitList(text).every((name) => /^[\w-]+(?:\.[\w-]+)*$/.test(name)),
    (text) => splitList(text.toLowerCase()),
  );
}

function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((element) => element.trim());
}

function isInRange(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
