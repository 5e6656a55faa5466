import { z } from 'zod';
import {
  boolean,
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
  string,
} from '../validation/fields';
import { sentencesToCompare } from '../validation/sentences';

const ANY = 'a string, a list of strings, or an object with "source_sentence" and "sentences"';

/** Texts to make vectors of, or a sentence to compare with others. */
type Inputs =
  | { readonly texts: readonly string[]; readonly isList: boolean }
  | z.output<typeof sentencesToCompare>;

function findTextProblem(value: unknown): ElementProblem | null {
  return typeof value === 'string' ? null : { message: 'expected a string', path: [] };
}

function findProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (Array.isArray(value)) return findListProblem(value, ANY, findTextProblem);
  if (typeof value !== 'object' || value === null) {
    return { message: expected(ANY)({ input: value }), path: [] };
  }
  const [issue] = sentencesToCompare.safeParse(value).error?.issues ?? [];
  return issue ? { message: issue.message, path: issue.path } : null;
}

const inputs = checked(findProblem, (value): Inputs => {
  if (typeof value === 'string') return { texts: [value], isList: false };
  if (Array.isArray(value)) return { texts: value, isList: true };
  return value as z.output<typeof sentencesToCompare>;
}).meta({
  description: 'A text, a list of texts, or a sentence and those that it is compared with',
  anyOf: [
    { type: 'string' },
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      properties: {
        source_sentence: { type: 'string' },
        sentences: { type: 'array', items: { type: 'string' } },
      },
      required: ['source_sentence', 'sentences'],
    },
  ],
});

/** Body of feature-extraction, whose clients put parameters beside the inputs, and of sentence-similarity. */
export const embeddingBody = object({
  inputs,
  normalize: boolean().nullish().describe('Vectors get a length of 1'),
  prompt_name: string().nullish().describe("Of the model's prompts. Default: its own"),
  truncate: boolean().nullish().describe('False: what is too long is refused. Default: cut'),
  truncation_direction: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['left', 'right'], { error: expected('"left" or "right"') }),
    )
    .nullish()
    .describe("The end that is cut off. Default: the tokenizer's own"),
});
