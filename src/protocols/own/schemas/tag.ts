import { z } from 'zod';
import { STRATEGIES } from '../../../tasks/token-classification/spans';
import { expected, listOf, object, string } from '../../validation/fields';

const NAMES = STRATEGIES.map((name) => `"${name}"`).join(', ');

/** How spans are made of tokens; protocols share it. */
export const spanSettings = {
  aggregation_strategy: z
    .enum(STRATEGIES, { error: expected(`one of ${NAMES}`) })
    .nullish()
    .describe('How tokens become spans, as the pipeline of transformers names it. Default: simple'),
  ignore_labels: z
    .array(string(), { error: expected('an array of strings') })
    .nullish()
    .describe('Labels that are left out, as spans have them. Default: O'),
  stride: z
    .int({ error: expected('a whole number') })
    .min(0, { error: 'expected at least 0' })
    .nullish()
    .describe(
      'A text longer than the model takes is read in windows that share so many tokens. Default: it is cut',
    ),
};

/** Body of POST /tag. */
export const tagBody = object({ text: string(), ...spanSettings });

/** Body of POST /tag/batch. */
export const tagBatchBody = object({
  texts: listOf<string>('an array of texts', (element) =>
    typeof element === 'string' ? null : { message: 'expected a string', path: [] },
  ).meta({ type: 'array', items: { type: 'string' } }),
  ...spanSettings,
});

export type SpanSettings = Pick<z.infer<typeof tagBody>, keyof typeof spanSettings>;

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
