import { enumFlag, numberFlag } from '../../../files/flags';
import { codePointCounter } from '../../../lib/code-points';
import { roundToFourDecimals } from '../../../lib/numbers';
import type {
  ClassifierMetadata,
  TokenClassification,
  TokenClassificationInput,
} from '../../../tasks/capabilities';
import { type Span, STRATEGIES, toSpans } from '../../../tasks/token-classification/spans';
import {
  type ResultFormat,
  type TaskRows,
  TEXT_COLUMN_FLAG,
  TRUNCATED_FIELD,
  textOf,
} from './rows';

interface TagsResult {
  readonly tags: readonly Pick<Span, 'label' | 'score' | 'word' | 'start' | 'end'>[];
  readonly truncated: boolean;
}

const TOKENS = { form: /^\d{1,7}$/, what: 'a whole number of tokens' };
const UNITS = ['utf-16', 'code-points'] as const;

export const tokenClassificationRows: TaskRows<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
> = {
  flags: {
    ...TEXT_COLUMN_FLAG,
    'aggregation-strategy': {
      value: 'NAME',
      help: `groups: ${STRATEGIES.join(', ')} (default: Viterbi or simple)`,
    },
    'ignore-labels': { value: 'A,B', help: 'labels to omit (default: O)' },
    stride: {
      value: 'TOKENS',
      help: 'overlap of the windows of long texts (default: long texts are truncated)',
    },
    offsets: {
      value: 'UNIT',
      help: 'unit of start and end: utf-16 or code-points (Python); default: utf-16',
    },
  },
  formats: [],
  readsRecordings: false,
  parse: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const strategy = enumFlag(values, 'aggregation-strategy', STRATEGIES);
    const ignoreLabels = values.get('ignore-labels')?.split(',') ?? ['O'];
    const ignored = new Set(ignoreLabels);
    const stride = numberFlag(values, 'stride', TOKENS);
    const offsets = enumFlag(values, 'offsets', UNITS) ?? 'utf-16';
    return {
      requiredColumns: [textColumn],
      identity: { textColumn, strategy, ignoreLabels, stride, offsets },
      bind: (model) => ({
        ...TAGS_FORMAT,
        omittedColumns: [],
        split: null,
        toInput: (row) => {
          const text = textOf(row, textColumn);
          if (typeof text !== 'string') return text;
          return { input: { text, ...(stride !== null && { stride }) } };
        },
        inputLength: ({ text }) => text.length,
        run: async (input) => {
          const prediction = await model.run(input, {});
          const spans = await toSpans(prediction, model, { strategy, ignoreLabels: ignored });
          const toOffset =
            offsets === 'utf-16' ? (unit: number) => unit : codePointCounter(prediction.text);
          const tags = spans.map(({ label, score, word, start, end }) => ({
            label,
            score: roundToFourDecimals(score),
            word,
            start: toOffset(start),
            end: toOffset(end),
          }));
          return { tags, truncated: prediction.inference.truncated };
        },
      }),
    };
  },
};

/** Spans in the format of `POST /tag`. */
export const TAGS_FORMAT: ResultFormat<TagsResult> = {
  fields: [{ name: 'tags', type: 'json', extract: ({ tags }) => tags }, TRUNCATED_FIELD],
  labels: [],
  summarize: ({ tags, truncated }) => ({ labels: tags.map(({ label }) => label), truncated }),
};
