import { z } from 'zod';
import type { GuardFile } from '../../../tasks/guard/file';
import { boolean, expected, listOf, object, string } from '../../validation/fields';

/** Body of POST /guard. */
export const guardBody = object({
  text: string().optional().describe('One text; or else texts'),
  texts: listOf<string>('an array of texts', (element) =>
    typeof element === 'string' ? null : { message: 'expected a string', path: [] },
  )
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description: 'Parts of a message, or messages: looked at each alone, and together',
    }),
  direction: z
    .enum(['input', 'output'], { error: expected('"input" or "output"') })
    .nullish()
    .describe('Whether they go to a language model or come from one. Default: input'),
  map: boolean().nullish().describe('Whether the answer says what placeholders stand for'),
  scores: boolean()
    .nullish()
    .describe(
      'Whether the answer has scores below the thresholds as well, for labels that count; then no check is skipped',
    ),
});

const index = (what: string) => z.int().nullable().describe(what);

const finding = z.object({
  check: z.string().describe("Its name in the guard's file"),
  label: z.string(),
  score: z.number().describe('Four decimals; of patterns 1'),
  part: index('Index of the text; null: all together'),
  start: index('First UTF-16 unit of the text; null: the whole text'),
  end: index('Behind the last one'),
  view: z.string().describe('In which form of the text; text: as it is'),
  action: z.enum(['block', 'redact', 'note']),
});

export const guardAnswer = z.object({
  action: z
    .enum(['allow', 'redact', 'block'])
    .describe('redact: pass on texts in the place of what was sent'),
  findings: z.array(finding).describe('In the order of the texts'),
  scores: z
    .array(
      finding.extend({
        alone: z
          .number()
          .nullable()
          .describe(
            'Of parts together: the highest score of one part alone for the label in this place; where that counts, this is not told',
          ),
      }),
    )
    .optional()
    .describe('What would be found if every threshold were 0, in the same order'),
  texts: z.array(z.string()).describe('With placeholders for what is redacted'),
  map: z.record(z.string(), z.string()).optional().describe('By placeholder what it stands for'),
  errors: z
    .array(z.object({ check: z.string(), reason: z.string(), action: z.enum(['block', 'allow']) }))
    .describe('Checks that could not run'),
  not_looked_at: z
    .array(
      z.object({
        check: z.string().nullable().describe('null: no check has'),
        part: index('Index of the text; null: any'),
        start: index('From where on; null: anywhere'),
        limit: z.string().describe("Of the guard's file"),
        action: z.enum(['block', 'note']),
      }),
    )
    .describe('What no check, or one of them, has seen'),
  skipped: z.array(z.string()).describe('Checks that were not awaited: a decisive one blocked'),
});

export type GuardBody = z.infer<typeof guardBody>;
export type GuardJson = z.infer<typeof guardAnswer>;
/** GET /guard/file. */
export type GuardFileJson = GuardFile;
