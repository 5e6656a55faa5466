import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import { type TaggedText, tagText, tagTexts } from '../../services/tag';
import type { TokenClassifier } from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { object, string, stringList } from '../validation/fields';
import { SPAN_FIELDS } from '../validation/span-fields';

const request = object({ text: string(), ...SPAN_FIELDS });
const batchRequest = object({ texts: stringList('an array of texts'), ...SPAN_FIELDS });

export const tagResponse = z.object({
  input_text: z.string(),
  tags: z
    .array(
      z.object({
        label: z
          .string()
          .describe(
            'With aggregation_strategy "none" the label of the token, else without B- and I-',
          ),
        score: z.number().describe('Rounded to four decimals'),
        word: z.string().describe('Tokens of the entity, joined by the tokenizer'),
        start: z.int().describe('Start offset in UTF-16 code units'),
        end: z.int().describe('End offset in UTF-16 code units, exclusive'),
      }),
    )
    .describe('Entities in the order of the text'),
  truncated: z.boolean().describe('Whether the text was truncated'),
});
export const tagBatchResponse = z.object({ results: z.array(tagResponse) });

export type TagRequest = z.infer<typeof request>;
export type TagResponse = z.infer<typeof tagResponse>;
export type TagBatchResponse = z.infer<typeof tagBatchResponse>;

const examples = {
  request: { text: 'Ada Lovelace lived in London.' },
  response: {
    input_text: 'Ada Lovelace lived in London.',
    tags: [
      { label: 'PER', score: 0.9981, word: 'Ada Lovelace', start: 0, end: 12 },
      { label: 'LOC', score: 0.9994, word: 'London', start: 22, end: 28 },
    ],
    truncated: false,
  },
};
const batchExamples = {
  request: { texts: ['London calling.'], ignore_labels: ['O', 'PER'] },
  response: {
    results: [
      {
        input_text: 'London calling.',
        tags: [{ label: 'LOC', score: 0.9989, word: 'London', start: 0, end: 6 }],
        truncated: false,
      },
    ],
  },
};

/** POST /tag: token classification (NER) of a text. */
export function tag(served: ServedModel<TokenClassifier>): Route {
  return route({
    method: 'POST',
    path: '/tag',
    abilities: ['token-classification'],
    operationId: 'tag',
    summary: 'Token classification (NER) of a text',
    request,
    response: tagResponse,
    examples,
    errors: MODEL_ERRORS,
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { text, ...settings }) => {
      const { tagged, inferences } = await tagText(call, served, text, settings);
      return { body: await resultOf(tagged), inferences };
    },
  });
}

/** POST /tag/batch: token classification (NER) of a list of texts. */
export function tagBatch(
  served: ServedModel<TokenClassifier>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/tag/batch',
    abilities: ['token-classification'],
    operationId: 'tagBatch',
    summary: 'Token classification (NER) of a list of texts',
    request: batchRequest,
    limits: { texts: { maxItems: listLength } },
    response: tagBatchResponse,
    examples: batchExamples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { texts, ...settings }) => {
      requireListLength(texts, 'texts', listLength);
      const { tagged, inferences } = await tagTexts(call, served, texts, {
        ...settings,
        field: 'texts',
      });
      const results: TagResponse[] = [];
      for (const text of tagged) results.push(await resultOf(text));
      return { body: { results }, inferences };
    },
  });
}

async function resultOf({ text, spans, isTruncated }: TaggedText): Promise<TagResponse> {
  const tags = await mapInTimeSlices(spans, ({ label, score, word, start, end }) => ({
    label,
    score: roundToFourDecimals(score),
    word,
    start,
    end,
  }));
  return { input_text: text, tags, truncated: isTruncated };
}
