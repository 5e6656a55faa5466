import { z } from 'zod';
import { checked, type ElementProblem, expected, object, string } from '../validation/fields';
import { textsOrIds } from '../validation/texts-or-ids';

/** Body of POST /v1/embeddings. */
export const embeddingsBody = object({
  input: textsOrIds,
  model: string().nullish().describe('Default: the default model'),
  encoding_format: z
    .enum(['float', 'base64'], { error: expected('"float" or "base64"') })
    .nullish()
    .describe('base64: little-endian float32. Default: float'),
  dimensions: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('So many of the first numbers, at most those that there are'),
});

/** A text, a list of texts, or one text in parts. */
export type ModerationInput =
  | string
  | readonly string[]
  | readonly { readonly type: 'text'; readonly text: string }[];

/** Body of POST /v1/moderations. */
export const moderationsBody = object({
  input: checked(findInputProblem, (value) => value as ModerationInput).meta({
    description: 'A text, several texts, or one text in parts. Images are refused',
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['type', 'text'],
          properties: { type: { const: 'text' }, text: { type: 'string' } },
        },
      },
    ],
  }),
  model: string().nullish().describe('"guard", or a moderation model of OpenAI. Default: "guard"'),
});

/** Of each text that is answered its parts. */
export function partsOf(input: ModerationInput): readonly (readonly string[])[] {
  if (typeof input === 'string') return [[input]];
  const texts = input.map((one) => (typeof one === 'string' ? one : one.text));
  return typeof input[0] === 'string' ? texts.map((text) => [text]) : [texts];
}

function findInputProblem(value: unknown): ElementProblem | null {
  const what = 'a text, a list of texts or a list of parts';
  if (typeof value === 'string') return null;
  if (!Array.isArray(value)) return { message: expected(what)({ input: value }), path: [] };
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  const isOfTexts = typeof value[0] === 'string';
  for (const [index, one] of value.entries()) {
    const message = isOfTexts ? findTextProblem(one) : findPartProblem(one);
    if (message !== null) return { message, path: [index] };
  }
  return null;
}

function findTextProblem(value: unknown): string | null {
  return typeof value === 'string' ? null : 'expected a string';
}

function findPartProblem(value: unknown): string | null {
  const { type, text } = (value ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  if (type === 'image_url') return 'images are not looked at here, only texts';
  return type === 'text' && typeof text === 'string'
    ? null
    : 'expected a text or {"type": "text", "text"}';
}
