import { dumpJson, parseForPython } from '../../lib/python-json';
import { jsonText, parseJson, requireJsonType } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import type { ElementProblem } from './fields';

/** Limits of a request, those of TypeSafe's API. OpenAI's API has 400 questions. */
export const MAX_OPTIONS = 255;
export const MAX_LEVELS = 10;
export const MAX_QUESTIONS = 256;

export const IMAGES_UNSUPPORTED = 'images are not supported. Send texts only';

/** JSON Schema of a text, or of JSON that the model reads as text. */
export const TEXT_OR_JSON = {
  anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: {} }],
};
export const OPTIONAL_TEXT_OR_JSON = {
  anyOf: [...TEXT_OR_JSON.anyOf, { type: 'null' }],
};

/** Reads the body of a route whose `body` is bytes, for its schema. @throws ServiceError */
export function readJsonBody(call: ServiceRequest): unknown {
  requireJsonType(call.header('content-type'));
  return parseJson(call.body);
}

/**
 * The validated body once more, with its numbers and keys as Python would print them: see `parseForPython`. Read objects
 * with keys of the client by `entriesOf`.
 */
export function exactBody<Body>({ body }: ServiceRequest): Body {
  return parseForPython(jsonText(body as Buffer)) as Body;
}

/** Text of a string or of JSON, as `json.dumps(value, ensure_ascii=False)` in Python. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : dumpJson(value);
}

/** As `textOf`; null for null, a missing value or an empty text. */
export function optionalText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return textOf(value);
}

/** Problem of a text or JSON object or array; null: valid. */
export function findTextOrJsonProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string' || (typeof value === 'object' && value !== null)) return null;
  const message = value === undefined ? 'is required' : 'expected a string, an object or an array';
  return { message, path: [] };
}

/** As `findTextOrJsonProblem`, of a value that can be null or missing. */
export function findOptionalTextProblem(value: unknown): ElementProblem | null {
  return value === null || value === undefined ? null : findTextOrJsonProblem(value);
}

/** Whether a value is an object of JSON. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The problem below a key; null: no problem. */
export function problemAt(
  key: string | number,
  problem: ElementProblem | null,
): ElementProblem | null {
  return problem && { message: problem.message, path: [key, ...problem.path] };
}

/** Problem of the number of elements; null: it is within the limits. */
export function findCountProblem(
  count: number,
  what: string,
  [least, most]: readonly [number, number],
): ElementProblem | null {
  if (count >= least && count <= most) return null;
  return { message: `expected ${least} to ${most} ${what}, found ${count}`, path: [] };
}

/** The first problem of the elements of a list; null: all are valid. */
export function findFirstProblem<Element>(
  entries: Iterable<readonly [string | number, Element]>,
  findProblem: (element: Element) => ElementProblem | null,
): ElementProblem | null {
  for (const [key, element] of entries) {
    const problem = findProblem(element);
    if (problem) return problemAt(key, problem);
  }
  return null;
}
