import { z } from 'zod';
import { type SpanOptions, STRATEGIES } from '../tasks/token-classification/spans';
import { expected, MAX_NAMES, MAX_REPEATED, nameList, object } from './validation/fields';

const NAMES = STRATEGIES.map((name) => `"${name}"`).join(', ');

const nullableNames = {
  anyOf: [
    { type: 'array', items: { type: 'string', maxLength: MAX_REPEATED }, maxItems: MAX_NAMES },
    { type: 'null' },
  ],
};

/** How spans are made of tokens; protocols share it. */
export const spanSettings = {
  aggregation_strategy: z
    .enum(STRATEGIES, { error: expected(`one of ${NAMES}`) })
    .nullish()
    .describe('How tokens become spans, as the pipeline of transformers names it. Default: simple'),
  ignore_labels: nameList('an array of strings')
    .nullish()
    .meta(nullableNames)
    .describe('Labels that are left out, as spans have them. Default: O'),
  stride: z
    .int({ error: expected('a whole number') })
    .min(0, { error: 'expected at least 0' })
    .nullish()
    .describe(
      'A text longer than the model takes is read in windows that share so many tokens. Default: it is cut',
    ),
};

const settings = object(spanSettings);

export type SpanSettings = z.infer<typeof settings>;

/** What a body says of spans. */
export function spanOptions({
  aggregation_strategy,
  ignore_labels,
}: Pick<SpanSettings, 'aggregation_strategy' | 'ignore_labels'>): SpanOptions {
  const ignoreLabels = ignore_labels && new Set(ignore_labels);
  return { strategy: aggregation_strategy ?? 'simple', ignoreLabels };
}
