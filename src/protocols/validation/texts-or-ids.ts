import { checked, type ElementProblem, expected, findListProblem } from './fields';

const ANY = 'a string, a list of strings, a list of token ids or a list of such lists';

/** A text, or ids of the model's own tokens. */
export type TextOrIds = string | readonly number[];

function findIdProblem(value: unknown): ElementProblem | null {
  const isId = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
  return isId ? null : { message: 'expected the id of a token', path: [] };
}

function findTextProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string' && value !== '') return null;
  return {
    message: value === '' ? 'cannot be an empty string' : 'expected a string',
    path: [],
  };
}

function findProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return findTextProblem(value);
  if (!Array.isArray(value)) return { message: expected(ANY)({ input: value }), path: [] };
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  if (typeof value[0] === 'number') return findListProblem(value, ANY, findIdProblem);
  if (!Array.isArray(value[0])) return findListProblem(value, ANY, findTextProblem);
  return findListProblem(value, ANY, (ids) =>
    Array.isArray(ids) && ids.length === 0
      ? { message: 'cannot be an empty list', path: [] }
      : findListProblem(ids, 'a list of token ids', findIdProblem),
  );
}

const TEXT = { type: 'string', minLength: 1 };
const IDS = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };

/** Of a body, one or a list of them. */
export const textsOrIds = checked(findProblem, (value) => {
  const isOne = typeof value === 'string' || typeof (value as unknown[])[0] === 'number';
  return { elements: (isOne ? [value] : value) as readonly TextOrIds[], isList: !isOne };
}).meta({
  description: "A text, ids of the model's own tokens, or a list of either",
  anyOf: [TEXT, IDS, { type: 'array', items: { anyOf: [TEXT, IDS] }, minItems: 1 }],
});
