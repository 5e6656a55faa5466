import { enumFlag, numberFlag } from '../../files/flags';
import { codePointCounter } from '../../lib/code-points';
import { roundToFourDecimals } from '../../lib/numbers';
import type {
  ClassifierMetadata,
  TokenClassification,
  TokenClassificationInput,
} from '../capabilities';
import type { AnswerFormat, Rows } from '../rows';
import { TEXT_COLUMN, TRUNCATED, textOf } from '../text-rows';
import { type Span, STRATEGIES, toSpans } from './spans';

interface Tags {
  readonly tags: readonly Pick<Span, 'label' | 'score' | 'word' | 'start' | 'end'>[];
  readonly truncated: boolean;
}

const TOKENS = { form: /^\d{1,7}$/, what: 'a whole number of tokens' };
const UNITS = ['utf-16', 'code-points'] as const;

export const taggingRows: Rows<TokenClassificationInput, TokenClassification, ClassifierMetadata> =
  {
    flags: {
      ...TEXT_COLUMN,
      'aggregation-strategy': {
        value: 'NAME',
        help: `how tokens become spans: ${STRATEGIES.join(', ')} (default: simple)`,
      },
      'ignore-labels': { value: 'A,B', help: 'labels that are left out (default: O)' },
      stride: {
        value: 'TOKENS',
        help: 'long texts are read in windows that share so many (default: they are cut)',
      },
      offsets: {
        value: 'UNIT',
        help: 'what start and end count: utf-16, or code-points, as Python does (default: utf-16)',
      },
    },
    formats: [],
    readsRecordings: false,
    read: (values) => {
      const textColumn = values.get('text-column') ?? 'text';
      const strategy = enumFlag(values, 'aggregation-strategy', STRATEGIES) ?? 'simple';
      const ignoreLabels = values.get('ignore-labels')?.split(',') ?? ['O'];
      const ignored = new Set(ignoreLabels);
      const stride = numberFlag(values, 'stride', TOKENS);
      const offsets = enumFlag(values, 'offsets', UNITS) ?? 'utf-16';
      return {
        requiredColumns: [textColumn],
        decisive: { textColumn, strategy, ignoreLabels, stride, offsets },
        bind: (model) => ({
          ...FORMAT,
          omittedColumns: [],
          windowing: null,
          take: (row) => {
            const text = textOf(row, textColumn);
            if (typeof text !== 'string') return text;
            return { input: { text, ...(stride !== null && { stride }) } };
          },
          lengthOf: ({ text }) => text.length,
          run: async (input) => {
            const answer = await model.run(input, {});
            const spans = await toSpans(answer, model, { strategy, ignoreLabels: ignored });
            const place =
              offsets === 'utf-16' ? (unit: number) => unit : codePointCounter(answer.text);
            const tags = spans.map(({ label, score, word, start, end }) => ({
              label,
              score: roundToFourDecimals(score),
              word,
              start: place(start),
              end: place(end),
            }));
            return { tags, truncated: answer.inference.truncated };
          },
        }),
      };
    },
  };

/** Spans as POST /tag has them. */
const FORMAT: AnswerFormat<Tags> = {
  fields: [{ name: 'tags', type: 'json', extract: ({ tags }) => tags }, TRUNCATED],
  labels: [],
  summarize: ({ tags, truncated }) => ({ labels: tags.map(({ label }) => label), truncated }),
};
