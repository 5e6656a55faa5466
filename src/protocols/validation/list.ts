import { z } from 'zod';
import { expected } from './describe-issue';

/** What is wrong with an element, and where in it (`path`: keys within the element). */
export interface ElementProblem {
  readonly message: string;
  readonly path: readonly PropertyKey[];
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
  return z.unknown().transform((value, context): readonly Element[] => {
    const problem = findListProblem(value, what, findProblem);
    if (problem === null) return value as readonly Element[];
    context.addIssue({ code: 'custom', message: problem.message, path: [...problem.path] });
    return z.NEVER;
  });
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
