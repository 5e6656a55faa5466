import { z } from 'zod';
import { checked, type ElementProblem, expected, findListProblem, string } from './fields';

interface TextObject {
  readonly text: string;
}

/** `model`: name of the model; see `ModelResolver`. */
export const modelName = () =>
  string()
    .nullish()
    .describe('Default: the default model. Below the address of a model: a name of this model');

/** `top_n`: maximum number of documents in the response. */
export const topN = () =>
  z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('Maximum number of documents in the response. Default: all');

/** `documents`: a list of strings or of objects with a string `text`. */
export const documentList = () =>
  checked(findDocumentsProblem, (value) =>
    (value as readonly (string | TextObject)[]).map((document) =>
      typeof document === 'string' ? document : document.text,
    ),
  ).meta({
    description: 'Documents, each a string or {"text": string}',
    type: 'array',
    minItems: 1,
    items: {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      ],
    },
  });

function findDocumentsProblem(value: unknown): ElementProblem | null {
  const problem = findListProblem(value, 'an array of documents', (document) => {
    if (typeof document === 'string') return null;
    if (typeof (document as TextObject | null)?.text === 'string') return null;
    return { message: 'expected a string, or an object with a string "text"', path: [] };
  });
  if (problem || (value as readonly unknown[]).length > 0) return problem;
  return { message: 'expected at least one document', path: [] };
}
