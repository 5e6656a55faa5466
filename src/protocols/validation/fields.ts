import { z } from 'zod';
import type { TextOrIds } from '../../services/embed';

/** Error message of a schema: `is required` for a missing field, else `expected …`. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : `expected ${what}`);
}

/**
 * Schema of an object that ignores unknown keys, for request bodies.
 *
 * @throws Error: a field is an array or a map of zod, which reports every invalid element. Use `listOf`
 */
export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  for (const [name, field] of Object.entries(shape)) {
    const unbounded = findUnbounded(field as z.ZodType);
    if (unbounded) throw new Error(`${name}: z.${unbounded} reports every element: use listOf`);
  }
  return z.object(shape, { error: expected('an object') });
}

export const string = () => z.string({ error: expected('a string') });

/** Maximum length of a `repeatedString` in UTF-16 code units. */
export const MAX_REPEATED = 1024;

/** Schema of a string that the response or the input of the model contains several times: an ID, a label, a template. */
export const repeatedString = (what = 'a string') =>
  z
    .string({ error: expected(what) })
    .max(MAX_REPEATED, { error: ({ input }) => tooLong(String(input)) });

function tooLong({ length }: string): string {
  return `expected at most ${MAX_REPEATED} characters, found ${length}`;
}

/** Problem of an element of a list of `repeatedString`; null: valid. */
export function findRepeatedProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'string') return { message: 'expected a string', path: [] };
  return value.length <= MAX_REPEATED ? null : { message: tooLong(value), path: [] };
}

export const boolean = () => z.boolean({ error: expected('true or false') });

/** Path of a value in a body, for error messages: `texts[3].text_pair`, `signals[2][17]`. */
export function describePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((parent, key) => {
    if (typeof key === 'number') return `${parent}[${key}]`;
    return parent === '' ? String(key) : `${parent}.${String(key)}`;
  }, '');
}

/**
 * Error message of the first invalid value of a body: `text: expected a string`, `signal[17]: expected a number`,
 * `signal: is required`.
 */
export function describeFirstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${describePath(issue?.path ?? []) || 'body'}: ${issue?.message ?? 'is not valid'}`;
}

/** Problem of a value. `path`: keys of the invalid part within the value. */
export interface ElementProblem {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/**
 * Schema of a field that reports only its first problem. It is a zod check instead of a transform: a transform creates
 * a closure for each value, and V8 keeps these values alive until it collects the old generation.
 *
 * @param findProblem returns null for a valid value
 * @param read converts a valid value for the handler
 */
export function checked<Output>(
  findProblem: (value: unknown) => ElementProblem | null,
  read: (value: unknown) => Output,
): z.ZodType<Output> {
  return z.unknown().check((payload) => {
    const problem = findProblem(payload.value);
    if (problem === null) payload.value = read(payload.value);
    else
      payload.issues.push({
        ...problem,
        path: [...problem.path],
        code: 'custom',
        input: payload.value,
      });
  }) as z.ZodType<Output>;
}

/**
 * Schema of an array that stops at the first invalid element. `z.array` reports every invalid element: a body of
 * 200,000 nulls would block the event loop for half a second.
 *
 * @param what names the array, as in "expected an array of numbers"
 * @param findProblem returns null for a valid element
 */
export function listOf<Element>(
  what: string,
  findProblem: (element: unknown) => ElementProblem | null,
) {
  return checked(
    (value) => findListProblem(value, what, findProblem),
    (value) => value as readonly Element[],
  );
}

/** Schema of a list of at most `MAX_NAMES` names, such as labels or checks, each a `repeatedString`. */
export function nameList(what: string) {
  return checked(
    (value) => {
      const isLong = Array.isArray(value) && value.length > MAX_NAMES;
      if (!isLong) return findListProblem(value, what, findRepeatedProblem);
      const message = `expected at most ${MAX_NAMES} elements, found ${value.length}`;
      return { message, path: [] };
    },
    (value) => value as readonly string[],
  );
}

/** Maximum length of a list of names. */
export const MAX_NAMES = 1024;

/** Arrays of zod whose length is limited before zod validates their elements. */
const BOUNDED = new WeakSet<z.ZodType>();

/** `z.array` after a check that limits its length. */
export function boundedArray<Schema extends z.ZodType>(
  element: Schema,
  findProblem: (value: unknown) => ElementProblem | null,
) {
  const array = z.array(element);
  BOUNDED.add(array);
  return checked(findProblem, (value) => value as readonly unknown[]).pipe(array);
}

/** Types of zod schemas that report every invalid element of a value. */
const UNBOUNDED = new Set(['array', 'record', 'map', 'set', 'tuple', 'lazy']);

/** Type of the first schema within `schema` that reports every invalid element; null: no such schema. */
export function findUnbounded(schema: z.ZodType): string | null {
  const { type, ...parts } = schema.def as { readonly type: string };
  if (UNBOUNDED.has(type) && !BOUNDED.has(schema)) return type;
  for (const part of Object.values(parts).flatMap(schemasIn)) {
    const found = findUnbounded(part);
    if (found) return found;
  }
  return null;
}

const KNOWN_BOUNDED = new WeakSet<z.ZodType>();

/** @throws Error: the schema reports every invalid element of a list; see `object` */
export function requireBounded(schema: z.ZodType): void {
  if (KNOWN_BOUNDED.has(schema)) return;
  const unbounded = findUnbounded(schema);
  if (unbounded) throw new Error(`z.${unbounded} reports every element: use listOf`);
  KNOWN_BOUNDED.add(schema);
}

function schemasIn(part: unknown): readonly z.ZodType[] {
  if (part instanceof z.ZodType) return [part];
  if (typeof part !== 'object' || part === null) return [];
  return Object.values(part).filter((value) => value instanceof z.ZodType);
}

/** Problem of the first invalid element of an array, or of a value that is not an array; null: valid. */
export function findListProblem(
  value: unknown,
  what: string,
  findProblem: (element: unknown) => ElementProblem | null,
): ElementProblem | null {
  if (!Array.isArray(value)) return { message: expected(what)({ input: value }), path: [] };
  for (let index = 0; index < value.length; index++) {
    const problem = findProblem(value[index]);
    if (problem) return { message: problem.message, path: [index, ...problem.path] };
  }
  return null;
}

/** Problem of an element of a list of finite numbers; null: valid. */
export function findNumberProblem(element: unknown): ElementProblem | null {
  if (Number.isFinite(element)) return null;
  // JSON numbers that are too large for a float64, such as 1e400, parse as Infinity.
  const what = typeof element === 'number' ? 'a finite number' : 'a number';
  return { message: `expected ${what}`, path: [] };
}

/** Problem of an element of a list of strings; null: valid. */
export function findStringProblem(element: unknown): ElementProblem | null {
  return typeof element === 'string' ? null : { message: 'expected a string', path: [] };
}

/** Schema of a list of strings. @param what names the list, as in "expected an array of texts" */
export const stringList = (what: string, schema: object = {}) =>
  listOf<string>(what, findStringProblem).meta({
    type: 'array',
    items: { type: 'string' },
    ...schema,
  });

/** A text and the texts with which it is compared. */
export const sentencesToCompare = object({
  source_sentence: string(),
  sentences: stringList('a list of strings'),
});

/** Texts to embed. */
export interface TextInputs {
  readonly elements: readonly TextOrIds[];
  /** The request has a list. */
  readonly isList: boolean;
}

const TEXTS_OR_IDS = 'a string, a list of strings, a list of token ids or a list of such lists';

/** JSON Schema of a text, a list of token IDs, or a list of both. @param text schema of a text */
export function textInputsSchema(text: object): object {
  const ids = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };
  return { anyOf: [text, ids, { type: 'array', items: { anyOf: [text, ids] }, minItems: 1 }] };
}

/**
 * Problem of a text, a list of token IDs, or a list of both; null: valid. Lists can be empty.
 *
 * @param findTextProblem problem of a value that is no list
 */
export function findTextInputsProblem(
  value: unknown,
  findTextProblem: (text: unknown) => ElementProblem | null,
): ElementProblem | null {
  if (!Array.isArray(value)) {
    const isElement = typeof value === 'string' || (typeof value === 'object' && value !== null);
    if (isElement) return findTextProblem(value);
    return { message: expected(TEXTS_OR_IDS)({ input: value }), path: [] };
  }
  if (isIds(value)) return findListProblem(value, TEXTS_OR_IDS, findIdProblem);
  return findListProblem(value, TEXTS_OR_IDS, (element) =>
    Array.isArray(element)
      ? findListProblem(element, 'a list of token ids', findIdProblem)
      : findTextProblem(element),
  );
}

/** Reads a valid value. @param toText reads an element that is no list */
export function toTextInputs(value: unknown, toText: (text: unknown) => string): TextInputs {
  const isList = Array.isArray(value) && !isIds(value);
  const elements = (isList ? value : [value]) as readonly unknown[];
  const isText = (element: unknown): element is string => typeof element === 'string';
  return {
    elements: elements.every(isText)
      ? elements
      : elements.map((element) => (Array.isArray(element) ? element : toText(element))),
    isList,
  };
}

function isIds(value: readonly unknown[]): boolean {
  return typeof value[0] === 'number';
}

function findIdProblem(value: unknown): ElementProblem | null {
  const isId = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
  return isId ? null : { message: 'expected a token id', path: [] };
}
