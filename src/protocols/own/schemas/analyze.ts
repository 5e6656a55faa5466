import { z } from 'zod';
import { type ElementProblem, expected, listOf, object, string } from '../../validation/fields';

/** Body of POST /analyze. */
export const analyzeBody = object({
  text: string(),
  text_pair: z
    .string({ error: expected('a string or null') })
    .nullable()
    .optional()
    .describe('A second text, which the model reads with the first; null or empty: there is none'),
});

/** A text as it is sent, alone or with another. */
export type SentText = string | z.infer<typeof analyzeBody>;

/** Body of POST /analyze/batch. */
export const analyzeBatchBody = object({
  texts: listOf<SentText>('an array of texts', findTextProblem).meta({ type: 'array' }),
});

function findTextProblem(element: unknown): ElementProblem | null {
  if (typeof element === 'string') return null;
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return { message: 'expected a string or an object', path: [] };
  }
  return analyzeBody.safeParse(element).error?.issues[0] ?? null;
}
