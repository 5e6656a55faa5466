import type { z } from 'zod';
import type { TextInput } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import { classified, type TextClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { EMPTY } from '../../tasks/text-classification/text-classification-task';
import { isBlank } from '../../tasks/text-classification/whitespace';
import { combine } from '../../tasks/text-classification/windows';
import { toSchema, withProperties } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { type Asked, classificationRoutes } from './classification';
import { TEXT_EXAMPLES } from './examples';
import {
  analyzeBatchBody,
  analyzeBody,
  elementBody,
  type SentText,
  type SentTexts,
} from './schemas/analyze';
import { type AnalyzeAnswer, analyzeAnswer, analyzeBatchAnswer } from './schemas/answers';

/** What a text must hold: anything but white space as Python's `str.strip()` understands it. */
const NOT_BLANK = {
  type: 'string',
  pattern:
    '[^\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]',
};

const ASKED: Asked<
  z.output<typeof analyzeBody>,
  z.output<typeof analyzeBatchBody>,
  SentText,
  string | TextInput
> = {
  name: 'analyze',
  single: {
    body: analyzeBody,
    field: 'text',
    answer: analyzeAnswer,
    summary: 'Label a text',
  },
  batch: {
    body: analyzeBatchBody,
    field: 'texts',
    answer: analyzeBatchAnswer,
    summary: 'Label several texts, with the scores of all labels',
  },
  elementOf: (body) => body,
  elementsOf: ({ texts }) => texts,
  isAskable: (asked) => !isBlank(typeof asked === 'string' ? asked : asked.text),
  refused: { code: 'INPUT_EMPTY', message: EMPTY },
  toInput: (asked, { long_texts, stride }) => {
    const { text, text_pair: pair }: SentTexts =
      typeof asked === 'string' ? { text: asked } : asked;
    const input = typeof pair === 'string' ? { text, pair } : { text };
    if (long_texts === 'windows') return { ...input, places: true, stride: stride ?? 0 };
    if (long_texts === 'truncate') return { ...input, places: false };
    return 'pair' in input ? input : text;
  },
  finish: (answer, { combine: combination }, about) => {
    const { windows, inference } = answer;
    if (!windows) return { answer };
    const told = windows.map(({ start, end, scores }) => {
      const { label, score } = classified(about, scores, inference);
      return { start, end, label, score: roundToFourDecimals(score) };
    });
    const scores = combination ? combine(windows, combination) : answer.scores;
    return { answer: classified(about, scores, inference), more: { windows: told } };
  },
  tell: (asked, _, label, score): AnalyzeAnswer => {
    if (typeof asked === 'string') return { input_text: asked, label, score };
    const { text, text_pair: pair } = asked;
    const sent = { input_text: text, ...(typeof pair === 'string' && { input_text_pair: pair }) };
    return { ...sent, label, score };
  },
  truncated: 'truncated',
  examples: TEXT_EXAMPLES,
  describeElement: () => ({
    alone: NOT_BLANK,
    listed: { anyOf: [NOT_BLANK, withProperties(toSchema(elementBody), { text: NOT_BLANK })] },
  }),
};

/** POST /analyze: a text, or two that belong together, to its label; /analyze/batch: a list of them. */
export function analyze(
  served: ServedModel<TextClassifier>,
  surroundings: ProtocolOptions,
): readonly Route[] {
  return classificationRoutes(ASKED, served, surroundings);
}
