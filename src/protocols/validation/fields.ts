import { z } from 'zod';

/** Message of a schema: says that a field is missing, or what was expected of it. */
export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : `expected ${what}`);
}

/** An object; keys that it does not name are ignored. */
export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object(shape, { error: expected('an object') });
}

export const string = () => z.string({ error: expected('a string') });
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
