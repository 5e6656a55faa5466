import { z } from 'zod';
import { COMBINATIONS } from '../../../tasks/text-classification/windows';
import { type ElementProblem, expected, listOf, object, string } from '../../validation/fields';

/** What becomes of texts that are longer than the model takes. */
const longTexts = {
  long_texts: z
    .enum(['truncate', 'windows'], { error: expected('"truncate" or "windows"') })
    .nullish()
    .describe(
      'A text longer than the model takes is cut, or read whole in windows. Default: truncate',
    ),
  stride: z
    .int({ error: expected('a whole number') })
    .min(0, { error: 'expected at least 0' })
    .nullish()
    .describe('Tokens that a window shares with the one before. Default: 0'),
  combine: z
    .enum(COMBINATIONS, { error: expected('"mean" or "max"') })
    .nullish()
    .describe('Of the scores of windows the mean, or of each label the highest. Default: mean'),
};

/** A text, or two that belong together. */
const oneText = {
  text: string(),
  text_pair: z
    .string({ error: expected('a string or null') })
    .nullable()
    .optional()
    .describe('A second text, which the model reads with the first; null or empty: there is none'),
};

/** An element of a list, where it is no string. */
export const elementBody = object(oneText);

export type SentTexts = z.infer<typeof elementBody>;

/** A text with another one. */
const PAIR = {
  properties: { text_pair: { type: 'string', minLength: 1 } },
  required: ['text_pair'],
};

/** For OpenAPI: only a text without another one is read in windows. @param paired a body with a pair */
function neverInWindows(paired: { readonly properties: object; readonly required: string[] }) {
  const properties = { ...paired.properties, long_texts: { const: 'windows' } };
  return { not: { properties, required: [...paired.required, 'long_texts'] } };
}

/** Body of POST /analyze. */
export const analyzeBody = object({ ...oneText, ...longTexts }).meta(neverInWindows(PAIR));

/** A text as it is sent, alone or with another. */
export type SentText = string | SentTexts;

/** Body of POST /analyze/batch. */
export const analyzeBatchBody = object({
  texts: listOf<SentText>('an array of texts', findTextProblem).meta({ type: 'array' }),
  ...longTexts,
}).meta(
  neverInWindows({
    properties: { texts: { contains: { type: 'object', ...PAIR } } },
    required: ['texts'],
  }),
);

function findTextProblem(element: unknown): ElementProblem | null {
  if (typeof element === 'string') return null;
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return { message: 'expected a string or an object', path: [] };
  }
  return elementBody.safeParse(element).error?.issues[0] ?? null;
}
