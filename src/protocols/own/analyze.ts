import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import type { TextInput } from '../../native/engine';
import { classify, namedScores } from '../../services/classify';
import {
  admissionErrorOf,
  checkElements,
  requireListLength,
  requireModel,
} from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { Classification, ClassifierMetadata, TextClassifier } from '../../tasks/capabilities';
import {
  COMBINATIONS,
  combineWindowScores,
  isBlank,
  toClassification,
} from '../../tasks/classification';
import type { ServedModel } from '../../tasks/served-model';
import { EMPTY_TEXT } from '../../tasks/text-classification/text-classification-task';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER, toSchema } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { type ElementProblem, expected, listOf, object, string } from '../validation/fields';

/** A text with a character that is not white space, as `str.strip()` of Python defines it. */
const NOT_BLANK = {
  type: 'string',
  pattern:
    '[^\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]',
};

/** A text or a text pair. */
const TEXT_FIELDS = {
  text: string().meta(NOT_BLANK),
  text_pair: z
    .string({ error: expected('a string or null') })
    .nullable()
    .optional()
    .describe('Second text of a text pair; null or empty: no pair'),
};

/** Handling of texts that are longer than the model allows. */
const LONG_TEXT_FIELDS = {
  long_texts: z
    .enum(['truncate', 'windows'], { error: expected('"truncate" or "windows"') })
    .nullish()
    .describe('Truncate long texts, or read them in windows. Default: truncate'),
  stride: z
    .int({ error: expected('a whole number') })
    .min(0, { error: 'expected at least 0' })
    .nullish()
    .describe('Overlap of windows in tokens. Default: 0'),
  combine: z
    .enum(COMBINATIONS, { error: expected('"mean" or "max"') })
    .nullish()
    .describe('Mean or maximum of the scores of the windows, for each label. Default: mean'),
};

/** JSON Schema: excludes windows for text pairs. @param pair JSON Schema of a body with a pair */
function withoutWindowsFor(pair: {
  readonly properties: object;
  readonly required: readonly string[];
}) {
  const properties = { ...pair.properties, long_texts: { const: 'windows' } };
  return { not: { properties, required: [...pair.required, 'long_texts'] } };
}

const PAIR = {
  properties: { text_pair: { type: 'string', minLength: 1 } },
  required: ['text_pair'],
};

const elementObject = object(TEXT_FIELDS);

/** Element of `texts`. */
type Element = string | z.output<typeof elementObject>;

export const analyzeRequest = object({ ...TEXT_FIELDS, ...LONG_TEXT_FIELDS }).meta(
  withoutWindowsFor(PAIR),
);

export const analyzeBatchRequest = object({
  texts: listOf<Element>('an array of texts', findElementProblem).meta({
    type: 'array',
    items: { anyOf: [NOT_BLANK, toSchema(elementObject)] },
  }),
  ...LONG_TEXT_FIELDS,
}).meta(
  withoutWindowsFor({
    properties: { texts: { contains: { type: 'object', ...PAIR } } },
    required: ['texts'],
  }),
);

type LongTextSettings = Pick<z.output<typeof analyzeRequest>, keyof typeof LONG_TEXT_FIELDS>;

const score = z.number().describe('Probability of the label, rounded to four decimals');

const response = z.object({
  input_text: z.string().describe('The text of the request'),
  input_text_pair: z.string().optional().describe('The second text of the request, if any'),
  label: z.string().describe('The label with the highest score'),
  score,
  windows: z
    .array(
      z.object({
        start: z.int().describe('Start offset in UTF-16 code units'),
        end: z.int().describe('End offset in UTF-16 code units, exclusive'),
        label: z.string(),
        score,
      }),
    )
    .optional()
    .describe('Windows of the text, if long_texts is "windows"'),
});

const batchResponse = z.object({
  results: z.array(
    response.extend({
      probabilities: z
        .record(z.string(), z.number())
        .describe('Scores of all labels, rounded to four decimals'),
      truncated: z.boolean().describe('Whether the text was truncated'),
    }),
  ),
});

export type AnalyzeResponse = z.infer<typeof response>;
export type AnalyzeBatchResponse = z.infer<typeof batchResponse>;

/**
 * Requests and the responses of the shipped model; test/http/openapi.test.ts sends them. The fourth decimal of
 * scores depends on the processor.
 */
export const ANALYZE_EXAMPLES = {
  single: {
    request: { text: 'A warm, funny film that never outstays its welcome.' },
    response: {
      input_text: 'A warm, funny film that never outstays its welcome.',
      label: 'POSITIVE',
      score: 0.982,
    },
  },
  batch: {
    request: { texts: ['A warm, funny film.', 'Dull.'] },
    response: {
      results: [
        {
          input_text: 'A warm, funny film.',
          label: 'POSITIVE',
          score: 0.9823,
          probabilities: { NEGATIVE: 0.0177, POSITIVE: 0.9823 },
          truncated: false,
        },
        {
          input_text: 'Dull.',
          label: 'NEGATIVE',
          score: 0.9736,
          probabilities: { NEGATIVE: 0.9736, POSITIVE: 0.0264 },
          truncated: false,
        },
      ],
    },
  },
} as const;

/** POST /analyze: classifies a text or a text pair. */
export function analyze(served: ServedModel<TextClassifier>): Route {
  return route({
    method: 'POST',
    path: '/analyze',
    abilities: ['text-classification'],
    operationId: 'analyze',
    summary: 'Classify a text',
    request: analyzeRequest,
    response,
    examples: ANALYZE_EXAMPLES.single,
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const model = requireModel(served.model);
      requireText(body);
      const prediction = await model.run(inputOf(body, body), call.inferOptions(served));
      const { label, score } = combineWindows(prediction, body.combine, model.metadata);
      const result = withWindows(resultOf(body, label, score), prediction, model.metadata);
      return { body: result, inferences: [prediction.inference] };
    },
  });
}

/** POST /analyze/batch: classifies a list of texts and text pairs. */
export function analyzeBatch(
  served: ServedModel<TextClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/analyze/batch',
    abilities: ['text-classification'],
    operationId: 'analyzeBatch',
    summary: 'Classify a list of texts, with the scores of all labels',
    request: analyzeBatchRequest,
    limits: { texts: { maxItems: listLength } },
    response: batchResponse,
    examples: ANALYZE_EXAMPLES.batch,
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const { texts } = body;
      requireListLength(texts, 'texts', listLength);
      const { metadata } = requireModel(served.model);
      checkElements(texts, 'texts', requireText);
      const { predictions, inferences } = await classify(call, served, {
        inputs: texts.map((element) => inputOf(element, body)),
        field: 'texts',
        responseLimit,
      });
      const results = await mapInTimeSlices(predictions, (prediction, index) => {
        const combined = combineWindows(prediction, body.combine, metadata);
        const { label, score, scores, inference } = combined;
        const result = Object.assign(resultOf(texts[index] as Element, label, score), {
          probabilities: namedScores(metadata.labels, scores),
          truncated: inference.truncated,
        });
        return withWindows(result, prediction, metadata);
      });
      return { body: { results }, inferences };
    },
  });
}

function findElementProblem(element: unknown): ElementProblem | null {
  if (typeof element === 'string') return null;
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return { message: 'expected a string or an object', path: [] };
  }
  return elementObject.safeParse(element).error?.issues[0] ?? null;
}

/** @throws ServiceError INPUT_EMPTY */
function requireText(element: Element): void {
  if (isBlank(typeof element === 'string' ? element : element.text)) {
    throw new ServiceError('INPUT_EMPTY', EMPTY_TEXT);
  }
}

function inputOf(element: Element, { long_texts, stride }: LongTextSettings): string | TextInput {
  const text = typeof element === 'string' ? element : element.text;
  const pair = typeof element === 'string' ? null : element.text_pair;
  const input = typeof pair === 'string' ? { text, pair } : { text };
  if (long_texts === 'windows') return { ...input, places: true, stride: stride ?? 0 };
  if (long_texts === 'truncate') return { ...input, places: false };
  return 'pair' in input ? input : text;
}

/** The prediction with the scores of its windows combined; the same prediction if there are no windows. */
function combineWindows(
  prediction: Classification,
  combination: LongTextSettings['combine'],
  metadata: ClassifierMetadata,
): Classification {
  const { windows, inference } = prediction;
  if (!windows) return prediction;
  const scores = combination ? combineWindowScores(windows, combination) : prediction.scores;
  return toClassification(metadata, scores, inference);
}

/** The result as an object literal: JSON.stringify of a merged object takes six times as long. */
function resultOf(element: Element, label: string, unrounded: number): AnalyzeResponse {
  const score = roundToFourDecimals(unrounded);
  if (typeof element === 'string') return { input_text: element, label, score };
  const { text, text_pair: pair } = element;
  if (typeof pair !== 'string') return { input_text: text, label, score };
  return { input_text: text, input_text_pair: pair, label, score };
}

function withWindows<Result extends AnalyzeResponse>(
  result: Result,
  { windows, inference }: Classification,
  metadata: ClassifierMetadata,
): Result {
  if (!windows) return result;
  return Object.assign(result, {
    windows: windows.map(({ start, end, scores }) => {
      const { label, score } = toClassification(metadata, scores, inference);
      return { start, end, label, score: roundToFourDecimals(score) };
    }),
  });
}
