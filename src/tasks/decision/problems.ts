/** Problem of a value. `path`: keys of the invalid part within the value. */
export interface Problem {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Path of a problem behind the name of its value: `[0].options`. */
export function pathText({ path }: Problem): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
}

/** Limits of a request, those of TypeSafe's API. */
export const MAX_OPTIONS = 255;
export const MAX_LEVELS = 10;
export const MAX_QUESTIONS = 256;
/** Maximum length of a name or label in UTF-16 units: responses repeat them. */
const MAX_LABEL = 1024;

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that is missing, or of another type than expected. */
export function notA(what: string, value: unknown): Problem {
  return { message: value === undefined ? 'is required' : `expected ${what}`, path: [] };
}

/** The problem below a key; null: no problem. */
export function problemAt(key: string | number, problem: Problem | null): Problem | null {
  return problem && { message: problem.message, path: [key, ...problem.path] };
}

/** The first problem of the elements of a list; null: all are valid. */
export function findFirstProblem<Element>(
  entries: Iterable<readonly [string | number, Element]>,
  findProblem: (element: Element) => Problem | null,
): Problem | null {
  for (const [key, element] of entries) {
    const problem = findProblem(element);
    if (problem) return problemAt(key, problem);
  }
  return null;
}

/** Problem of the number of elements; null: it is within the limits. */
export function findCountProblem(
  count: number,
  what: string,
  [least, most]: readonly [number, number],
): Problem | null {
  if (count >= least && count <= most) return null;
  return { message: `expected ${least} to ${most} ${what}, found ${count}`, path: [] };
}

/** The first problem of a list with a limited length; null: valid. */
export function findListProblem(
  list: unknown,
  what: string,
  limits: readonly [number, number],
  findProblem: (element: unknown) => Problem | null,
): Problem | null {
  if (!Array.isArray(list)) return notA(`an array of ${what}`, list);
  return (
    findCountProblem(list.length, what, limits) ?? findFirstProblem(list.entries(), findProblem)
  );
}

/** Problem of a text or a JSON object or array; null: valid. */
export function findTextProblem(value: unknown): Problem | null {
  if (typeof value === 'string' || (typeof value === 'object' && value !== null)) return null;
  return notA('a string, an object or an array', value);
}

/** As `findTextProblem`, of a value that can be null or missing. */
export function findOptionalTextProblem(value: unknown): Problem | null {
  return value === null || value === undefined ? null : findTextProblem(value);
}

/** Problem of a name or label; null: valid. */
export function findLabelProblem(value: unknown): Problem | null {
  if (typeof value !== 'string') return notA('a string', value);
  if (value.length <= MAX_LABEL) return null;
  return {
    message: `expected at most ${MAX_LABEL} characters, found ${value.length}`,
    path: [],
  };
}
