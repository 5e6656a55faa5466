import { z } from 'zod';
import { STRATEGIES } from '../../tasks/token-classification/spans';
import { expected, MAX_NAMES, MAX_REPEATED, nameList } from './fields';

const STRATEGY_NAMES = STRATEGIES.map((name) => `"${name}"`).join(', ');

/** Fields of token classification, as in the pipeline of transformers. */
export const SPAN_FIELDS = {
  aggregation_strategy: z
    .enum(STRATEGIES, { error: expected(`one of ${STRATEGY_NAMES}`) })
    .nullish()
    .describe(
      'How tokens are aggregated into entities, as in transformers. Default: Viterbi decoding if the model has it, otherwise simple',
    ),
  ignore_labels: nameList('an array of strings')
    .nullish()
    .meta({
      anyOf: [
        { type: 'array', items: { type: 'string', maxLength: MAX_REPEATED }, maxItems: MAX_NAMES },
        { type: 'null' },
      ],
    })
    .describe('Labels that the response leaves out. Default: O'),
  stride: z
    .int({ error: expected('a whole number') })
    .min(0, { error: 'expected at least 0' })
    .nullish()
    .describe(
      'Overlap between the windows of a long text, in tokens. Default: long texts are truncated',
    ),
};
