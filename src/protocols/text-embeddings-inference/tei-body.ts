import { z } from 'zod';
import type { TextInput } from '../../native/engine';
import {
  boolean,
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  listOf,
  object,
  string,
} from '../validation/fields';
import { sentencesToCompare } from '../validation/sentences';
import { textsOrIds } from '../validation/texts-or-ids';

const ANY = 'a string, a pair of strings or a batch [[string], [string, string], ...]';

/** What one request asks about. */
export interface Inputs {
  /** As they are to be read, but for how they are cut. */
  readonly texts: readonly TextInput[];
  readonly isBatch: boolean;
}

/** One text or two: an array of strings. */
function findSequenceProblem(value: unknown): ElementProblem | null {
  if (!Array.isArray(value))
    return { message: 'expected an array of one or two strings', path: [] };
  if (value.length !== 1 && value.length !== 2) {
    return { message: `expected one or two strings, found ${value.length}`, path: [] };
  }
  const wrong = value.findIndex((text) => typeof text !== 'string');
  return wrong < 0 ? null : { message: 'expected a string', path: [wrong] };
}

function toInput([text, pair]: readonly string[]): TextInput {
  return pair === undefined ? { text: text as string } : { text: text as string, pair };
}

/** The first element tells whether an array is a batch: `["a", "b"]` is a pair. */
function isBatch(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && Array.isArray(value[0]);
}

function findProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (!Array.isArray(value)) return { message: expected(ANY)({ input: value }), path: [] };
  if (!isBatch(value)) return findSequenceProblem(value);
  return findListProblem(value, ANY, findSequenceProblem);
}

const TEXT = { type: 'string', minLength: 1 };
const SEQUENCE = { type: 'array', items: TEXT, minItems: 1, maxItems: 2 };

const inputs = checked(findProblem, (value): Inputs => {
  if (typeof value === 'string') return { texts: [{ text: value }], isBatch: false };
  const sequences = (isBatch(value) ? value : [value]) as readonly (readonly string[])[];
  return { texts: sequences.map(toInput), isBatch: isBatch(value) };
}).meta({
  description: 'A text, a pair of texts, or a batch of both',
  anyOf: [TEXT, SEQUENCE, { type: 'array', items: SEQUENCE, minItems: 1 }],
});

const CUTTING = {
  truncate: z
    .boolean({ error: expected('true, false or null') })
    .nullish()
    .describe('False: what is longer than the model takes is refused (422). Default: cut'),
  truncation_direction: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['left', 'right'], { error: expected('"left" or "right"') }),
    )
    .optional()
    .describe("The end that is cut off. Default: the tokenizer's own"),
};

const cuttingBody = z.object(CUTTING);

/** How a body says that texts are cut. */
export function cuttingOf({
  truncate,
  truncation_direction: direction,
}: z.output<typeof cuttingBody>): Pick<TextInput, 'truncation' | 'truncationSide'> {
  return {
    ...(truncate === false && { truncation: 'do_not_truncate' }),
    ...(direction && { truncationSide: direction }),
  };
}

/** Body of POST /predict. */
export const predictBody = object({
  inputs,
  ...CUTTING,
  raw_scores: boolean().default(false).describe('The outputs of the model as they are'),
});

const textList = listOf<string>('an array of strings', (one) =>
  typeof one === 'string' ? null : { message: 'expected a string', path: [] },
).meta({ type: 'array', items: { type: 'string' }, minItems: 1 });

/** Body of POST /rerank. */
export const rerankBody = object({
  query: string(),
  texts: textList,
  ...CUTTING,
  raw_scores: boolean()
    .default(false)
    .describe('The outputs of the model as they are. Default: through a sigmoid'),
  return_text: boolean().default(false).describe('Whether texts come back'),
});

const prompt_name = string()
  .nullish()
  .describe("Of the model's prompts, one that is put before each text. Default: the model's own");

/** Body of POST /embed_all and /embed_sparse. */
export const plainEmbedBody = object({ inputs: textsOrIds, ...CUTTING, prompt_name });

/** Body of POST /embed. */
export const embedBody = plainEmbedBody.extend({
  normalize: boolean().default(true).describe('Vectors get a length of 1'),
  dimensions: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('So many of the first numbers, at most those that there are'),
});

/** Body of POST /similarity. */
export const similarityBody = object({
  inputs: sentencesToCompare,
  parameters: object({ ...CUTTING, prompt_name }).nullish(),
});
