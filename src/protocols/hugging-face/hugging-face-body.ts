import { z } from 'zod';
import type { TextInput } from '../../native/engine';
import { SCORE_FUNCTIONS } from '../../tasks/text-classification/probabilities';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
} from '../validation/fields';

const ONE = 'a string, or an object with "text" and "text_pair"';

/** A text, or the `{"text", "text_pair"}` of the pipelines of transformers. */
interface TextObject {
  readonly text: string;
  readonly text_pair?: string | null;
}

function findProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { message: expected(ONE)({ input: value }), path: [] };
  }
  const { text, text_pair: pair = null } = value as Record<string, unknown>;
  if (typeof text !== 'string') {
    return { message: expected('a string')({ input: text }), path: ['text'] };
  }
  if (pair === null || typeof pair === 'string') return null;
  return { message: 'expected a string', path: ['text_pair'] };
}

function toInput(value: string | TextObject): TextInput {
  if (typeof value === 'string') return { text: value };
  const { text, text_pair: pair = null } = value;
  return pair === null ? { text } : { text, pair };
}

/** What one request asks about. */
export interface Inputs {
  readonly texts: readonly TextInput[];
  /** A list was sent, if only of one. */
  readonly isList: boolean;
}

const TEXT_SCHEMAS = [
  { type: 'string' },
  {
    type: 'object',
    properties: { text: { type: 'string' }, text_pair: { type: ['string', 'null'] } },
    required: ['text'],
  },
];

const inputs = checked(
  (value) => (Array.isArray(value) ? findListProblem(value, '', findProblem) : findProblem(value)),
  (value): Inputs => {
    const isList = Array.isArray(value);
    const list = (isList ? value : [value]) as readonly (string | TextObject)[];
    return { texts: list.map(toInput), isList };
  },
).meta({
  description: 'A text, a pair of texts, or a list of them',
  anyOf: [...TEXT_SCHEMAS, { type: 'array', items: { anyOf: TEXT_SCHEMAS } }],
});

const scoreFunction = z
  .enum(SCORE_FUNCTIONS, { error: expected('"softmax", "sigmoid" or "none"') })
  .nullish()
  .describe("From outputs to scores; default: the model's own");

const topK = z
  .int({ error: expected('a whole number') })
  .positive({ error: 'expected at least 1' })
  .nullish()
  .describe('So many labels; default: all');

/** Body of the text-classification task of the Inference API. */
export const classificationBody = object({
  inputs,
  parameters: object({ function_to_apply: scoreFunction, top_k: topK }).nullish(),
});
