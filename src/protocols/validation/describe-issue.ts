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
