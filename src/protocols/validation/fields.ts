import { z } from 'zod';
import type { TextOrIds } from '../../services/embed';

/** Message of a schema: says that a field is missing, or what was expected of it. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : `expected ${what}`);
}

/**
 * An object; keys that it does not name are ignored. All bodies are made of it.
 *
 * @throws Error: a field has a list or a map of zod's own. Use `listOf`
 */
export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  for (const [name, field] of Object.entries(shape)) {
    const unbounded = findUnbounded(field as z.ZodType);
    if (unbounded) throw new Error(`${name}: z.${unbounded} reports every element: use listOf`);
  }
  return z.object(shape, { error: expected('an object') });
}

export const string = () => z.string({ error: expected('a string') });

/** Most UTF-16 units of a string that a response repeats, or that is read with each of several texts. */
export const MAX_REPEATED = 1024;

/** A string that a response repeats, or that is read with each of several texts: an id, a label, a template. */
export const repeatedString = (what = 'a string') =>
  z
    .string({ error: expected(what) })
    .max(MAX_REPEATED, { error: ({ input }) => tooLong(String(input)) });

function tooLong({ length }: string): string {
  return `expected at most ${MAX_REPEATED} characters, found ${length}`;
}

/** null: an element of a list of such strings is as it should be. */
export function findRepeatedProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'string') return { message: 'expected a string', path: [] };
  return value.length <= MAX_REPEATED ? null : { message: tooLong(value), path: [] };
}
export const boolean = () => z.boolean({ error: expected('true or false') });

/** A place in a body as messages name it: `texts[3].text_pair`, `signals[2][17]`. */
export function describePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`;
    return place === '' ? String(key) : `${place}.${String(key)}`;
  }, '');
}

/**
 * One line for the first thing wrong with a body: `text: expected a string`,
 * `signal[17]: expected a number`, `signal: is required`.
 */
export function describeFirstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${describePath(issue?.path ?? []) || 'body'}: ${issue?.message ?? 'is not valid'}`;
}

/** What is wrong with an element, and where in it (`path`: keys within the element). */
export interface ElementProblem {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/**
 * A field that says the first thing that is wrong with it, and no more. A check, not a transform of zod's: that one
 * gives each value a closure, by which V8 kept values alive until it collected the old space.
 *
 * @param findProblem null: it is as it should be
 * @param read makes of it what the handler is given
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
 * An array whose elements are checked up to the first offender. zod's own `z.array` reports every
 * one: a body of 200,000 nulls would hold the event loop for half a second.
 *
 * @param what names the array, as in "expected an array of numbers"
 * @param findProblem null: the element is as it should be
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

/** Names, such as labels or checks: at most `MAX_NAMES`, each a string as `repeatedString`. */
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

/** Most elements of a list of names. */
export const MAX_NAMES = 1024;

/** Lists of zod's own that are checked only after their length is. */
const BOUNDED = new WeakSet<z.ZodType>();

/** A list of zod's own behind `findProblem`, which limits its length. */
export function boundedArray<Schema extends z.ZodType>(
  element: Schema,
  findProblem: (value: unknown) => ElementProblem | null,
) {
  const array = z.array(element);
  BOUNDED.add(array);
  return checked(findProblem, (value) => value as readonly unknown[]).pipe(array);
}

/** Schemas of zod's own that report every element of a value, however many there are. */
const UNBOUNDED = new Set(['array', 'record', 'map', 'set', 'tuple', 'lazy']);

/** The kind of the first schema in this one that reports every element; null: it has none. */
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

/** @throws Error: the schema of a body reports every element of a list: see `object` */
export function requireBounded(schema: z.ZodType): void {
  if (KNOWN_BOUNDED.has(schema)) return;
  const unbounded = findUnbounded(schema);
  if (unbounded) throw new Error(`z.${unbounded} reports every element: use listOf`);
  KNOWN_BOUNDED.add(schema);
}

function schemasIn(part: unknown): readonly z.ZodType[] {
  if (part instanceof z.ZodType) return [part];
  if (typeof part !== 'object' || part === null) return [];
  return Object.values(part).filter((one) => one instanceof z.ZodType);
}

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

export function findNumberProblem(element: unknown): ElementProblem | null {
  if (Number.isFinite(element)) return null;
  // A number that is not finite was written too large for a double, such as 1e400.
  const what = typeof element === 'number' ? 'a finite number' : 'a number';
  return { message: `expected ${what}`, path: [] };
}

/** An element of a list of strings. */
export function findStringProblem(element: unknown): ElementProblem | null {
  return typeof element === 'string' ? null : { message: 'expected a string', path: [] };
}

/** A list of strings. @param what names the list, as in "expected an array of texts" */
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

const TEXTS_OR_IDS = 'a string, a list of strings, a list of token ids or a list of such lists';
const TEXT_SCHEMA = { type: 'string', minLength: 1 };
const IDS_SCHEMA = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };

/** A text, a list of token IDs, or a list of both. `isList`: the request has a list. */
export const textsOrIds = checked(findTextsOrIdsProblem, (value) => {
  const isSingle = typeof value === 'string' || typeof (value as unknown[])[0] === 'number';
  return { elements: (isSingle ? [value] : value) as readonly TextOrIds[], isList: !isSingle };
}).meta({
  description: 'A text, a list of token IDs, or a list of both',
  anyOf: [
    TEXT_SCHEMA,
    IDS_SCHEMA,
    { type: 'array', items: { anyOf: [TEXT_SCHEMA, IDS_SCHEMA] }, minItems: 1 },
  ],
});

function findTextsOrIdsProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return findTextProblem(value);
  if (!Array.isArray(value)) return { message: expected(TEXTS_OR_IDS)({ input: value }), path: [] };
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  if (typeof value[0] === 'number') return findListProblem(value, TEXTS_OR_IDS, findIdProblem);
  if (!Array.isArray(value[0])) return findListProblem(value, TEXTS_OR_IDS, findTextProblem);
  return findListProblem(value, TEXTS_OR_IDS, (ids) =>
    Array.isArray(ids) && ids.length === 0
      ? { message: 'cannot be an empty list', path: [] }
      : findListProblem(ids, 'a list of token ids', findIdProblem),
  );
}

function findTextProblem(value: unknown): ElementProblem | null {
  if (value === '') return { message: 'cannot be an empty string', path: [] };
  return findStringProblem(value);
}

function findIdProblem(value: unknown): ElementProblem | null {
  const isId = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
  return isId ? null : { message: 'expected a token id', path: [] };
}
