import { checked, type ElementProblem, expected, findListProblem } from './fields';

const TEXTS = 'a string or a list of strings';
const TEXT_SCHEMA = { type: 'string' };
const ID_LISTS = 'a list of token IDs or a list of such lists';
const IDS = 'a list of token IDs';
const IDS_SCHEMA = { type: 'array', items: { type: 'integer', minimum: 0 } };

/** A text to tokenize. */
export const textToTokenize = () =>
  checked(findTextProblem, (value) => value as string).meta(TEXT_SCHEMA);

/** A text or a list of texts to tokenize. `isList`: the request has a list. */
export const textsToTokenize = () =>
  checked(findTextsProblem, (value) => ({
    texts: (Array.isArray(value) ? value : [value]) as readonly string[],
    isList: Array.isArray(value),
  })).meta({ anyOf: [TEXT_SCHEMA, { type: 'array', items: TEXT_SCHEMA, minItems: 1 }] });

/** A list of token IDs to decode. */
export const tokenIds = () =>
  checked(findIdsProblem, (value) => value as readonly number[]).meta(IDS_SCHEMA);

/** A list of token IDs, or a list of such lists. `isList`: the request has a list of lists. */
export const tokenIdLists = () =>
  checked(findIdListsProblem, (value) => {
    const isList = Array.isArray((value as readonly unknown[])[0]);
    return { lists: (isList ? value : [value]) as readonly (readonly number[])[], isList };
  }).meta({ anyOf: [IDS_SCHEMA, { type: 'array', items: IDS_SCHEMA, minItems: 1 }] });

/** Problem of a text that cannot be tokenized exactly as it was sent; null: valid. */
function findTextProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'string')
    return { message: expected('a string')({ input: value }), path: [] };
  const surrogate = value.search(/\p{Surrogate}/u);
  if (surrogate < 0) return null;
  const problem = `expected Unicode text, found a lone surrogate at index ${surrogate}`;
  return { message: `${problem}. Remove it, or send the whole surrogate pair`, path: [] };
}

function findTextsProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return findTextProblem(value);
  return findListProblem(value, TEXTS, findTextProblem);
}

function findIdListsProblem(value: unknown): ElementProblem | null {
  if (!Array.isArray(value) || !Array.isArray(value[0])) return findIdsProblem(value, ID_LISTS);
  return findListProblem(value, ID_LISTS, (ids) => findIdsProblem(ids));
}

function findIdsProblem(value: unknown, what = IDS): ElementProblem | null {
  return findListProblem(value, what, findIdProblem);
}

function findIdProblem(value: unknown): ElementProblem | null {
  const isId = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
  return isId ? null : { message: 'expected a token ID, an integer from 0', path: [] };
}
