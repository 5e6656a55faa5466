/** Parsers of setting values. */
import path from 'node:path';
import type { Environment } from './environment';

/** Converts the text of a setting. @throws Error: expected and, except for secrets, received text */
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

/** Null if the setting is unset. */
export function optional<Value>(parse: Parser<Value>): Parser<Value | null> {
  return (text, environment) => (text === '' ? null : parse(text, environment));
}

export function integer(minimum: number, maximum: number): Parser<number> {
  return parser(
    `an integer from ${minimum} to ${maximum}`,
    (text) => /^\d{1,15}$/.test(text) && isInRange(Number(text), minimum, maximum),
    Number,
  );
}

/** A number of bytes: "1048576", "512kb", "1mb" (1 kb is 1024 bytes). */
export function bytes(maximum: number): Parser<number> {
  return parser(
    `a size such as 1048576, 512kb or 1mb, at most ${maximum} bytes`,
    (text) => /^\d{1,15} ?(?:b|kb|mb)?$/i.test(text) && isInRange(parseBytes(text), 1, maximum),
    parseBytes,
  );
}

/** NaN if the text does not start with a number. */
export function parseBytes(text: string): number {
  const unit = /kb$/i.test(text) ? 1024 : /mb$/i.test(text) ? 1024 ** 2 : 1;
  return Number.parseInt(text, 10) * unit;
}

/** Model names in paths, in requests of all protocols, and of folders of the model repository. */
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

/** An absolute path; relative paths are resolved from the working directory. */
export function filePath(): Parser<string> {
  return (text, { workingDirectory }) => path.resolve(workingDirectory, text);
}

/** Undefined selects all interfaces. */
export function host(): Parser<string | undefined> {
  return parser(
    'a host name or an address',
    (text) => /^\S*$/.test(text),
    (text) => text || undefined,
  );
}

/** An API key; the error message does not quote it. */
export function apiKey(): Parser<string> {
  return (text) => {
    if (/^[\x21-\x7e]{1,1024}$/.test(text)) return text;
    throw new Error('expected up to 1024 visible ASCII characters without spaces');
  };
}

export function operators(): Parser<readonly string[]> {
  return parser(
    'operators such as aten::as_strided, separated by commas',
    (text) => /^(?:\w+::\w+(?:\.\w+)?(?: *, *\w+::\w+(?:\.\w+)?)*)?$/.test(text),
    splitList,
  );
}

/** Origins in the form of the `Origin` header, or `*` as the only element. */
export function origins(): Parser<readonly string[]> {
  return parser(
    '* or origins such as https://example.org, separated by commas',
    (text) => text === '*' || splitList(text).every(isOrigin),
    splitList,
  );
}

/** An origin as browsers send it: no path, no default port, lower case. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Host names in lower case, or `*` as the only element. */
export function hostNames(): Parser<readonly string[]> {
  return parser(
    '* or host names without a port such as models.example.org, separated by commas',
    (text) => text === '*' || splitList(text).every((name) => /^[\w-]+(?:\.[\w-]+)*$/.test(name)),
    (text) => splitList(text.toLowerCase()),
  );
}

function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((element) => element.trim());
}

function isInRange(value: number, minimum: number, maximum: number): boolean {
  return value >= minimum && value <= maximum;
}
