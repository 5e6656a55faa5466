import type { z } from 'zod';
import { printable } from '../lib/printable';
import { ModelFileError, readText } from './files';

/** Maximum size of a JSON file in bytes. A label takes about 50 bytes of config.json, twice. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_VALUES = 1_000_000;
/** Maximum nesting depth. Model files have about 4 levels. */
const MAX_LEVELS = 64;

/** Maximum length of a quotation in an error message, in characters. */
const MAX_QUOTE = 200;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const OPENING = new Set([...'[{'].map((bracket) => bracket.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((bracket) => bracket.charCodeAt(0)));

/**
 * Reads a JSON file of a model with limits on its size and depth.
 *
 * @returns undefined if the file does not exist
 * @throws ModelFileError
 */
export function readModelJson(directory: string, name: string): unknown {
  const text = readText(directory, name, MAX_BYTES);
  return text === null ? undefined : parseModelJson(text, name);
}

/**
 * Reads a required JSON file and validates it with a schema.
 *
 * @throws ModelFileError
 */
export function requireModelJson<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  const content = readModelJson(directory, name);
  if (content === undefined) throw new ModelFileError(`${name}: not found in ${directory}`);
  return checkModelJson(name, schema, content);
}

/**
 * Parses JSON.
 *
 * @throws ModelFileError if the text is invalid JSON or nested too deeply
 */
export function parseModelJson(text: string, name: string): unknown {
  requireBounds(text, name);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, ' '); // The message may quote lines of the file.
    throw new ModelFileError(`${name}: ${printable(`is not JSON: ${reason}`)}`);
  }
}

/**
 * Validates the content of a file with a schema.
 *
 * @throws ModelFileError that names the key
 */
export function checkModelJson<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  content: unknown,
): z.output<Schema> {
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new ModelFileError(printable(`${name}: ${key}${issue?.message}`));
}

/**
 * Checks the nesting depth before parsing: deep nesting overflows the stack of recursive functions.
 */
function requireBounds(text: string, name: string): void {
  let values = 1;
  let level = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isText = !isText;
    else if (isText) i += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values += 1;
    else if (OPENING.has(code)) level += 1;
    else if (CLOSING.has(code)) level -= 1;
    if (level > MAX_LEVELS) {
      throw new ModelFileError(`${name}: is nested deeper than ${MAX_LEVELS} levels`);
    }
  }
  if (values > MAX_VALUES) {
    throw new ModelFileError(`${name}: has ${values} values, expected at most ${MAX_VALUES}`);
  }
}

/** Error of a schema for a value of a settings file, with the value. @param what such as "a number of Hz" */
export function expected(what: string): {
  error: (issue: { readonly input?: unknown }) => string;
} {
  return { error: ({ input }) => `expected ${what}, found ${quoted(input)}` };
}

/** Formats a value for an error message: one line, truncated. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text;
}
