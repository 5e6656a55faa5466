import { z } from 'zod';
import { spanSettings } from '../../spans';
import { listOf, object, string } from '../../validation/fields';

/** Body of POST /tag. */
export const tagBody = object({ text: string(), ...spanSettings });

/** Body of POST /tag/batch. */
export const tagBatchBody = object({
  texts: listOf<string>('an array of texts', (element) =>
    typeof element === 'string' ? null : { message: 'expected a string', path: [] },
  ).meta({ type: 'array', items: { type: 'string' } }),
  ...spanSettings,
});

const tagging = z.object({
  tags: z
    .array(
      z.object({
        label: z.string().describe('Of "none" the model\'s own, else without B- and I-'),
        score: z.number().describe('Four decimals'),
        word: z.string().describe('As the tokenizer puts its tokens together'),
        start: z.int().describe('First UTF-16 unit of the text'),
        end: z.int().describe('Behind the last one'),
      }),
    )
    .describe('In the order of the text'),
  truncated: z.boolean().describe('The text was longer than the model takes, and was cut'),
});

export const tagAnswer = z.object({ input_text: z.string(), ...tagging.shape });
export const tagBatchAnswer = z.object({ results: z.array(tagAnswer) });
export type TagAnswer = z.infer<typeof tagAnswer>;
export type TagBatchAnswer = z.infer<typeof tagBatchAnswer>;
