import { z } from 'zod';
import type { ModelResolver } from '../../services/model-resolver';
import { rerank as rerankDocuments } from '../../services/rerank';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, object, string, stringList } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import {
  computeHeaders,
  countCharacters,
  requireBatchSize,
  requireNotEmpty,
  TRUNCATION_FIELDS,
  truncationOf,
} from './tei-fields';

const request = object({
  model: modelName(),
  query: string(),
  texts: stringList('an array of strings', { minItems: 1 }),
  ...TRUNCATION_FIELDS,
  raw_scores: boolean()
    .default(false)
    .describe('Whether to return the outputs of the model. Default: false, apply a sigmoid'),
  return_text: boolean().default(false).describe('Whether the response contains the texts'),
});

const response = z.array(
  z.object({ index: z.int(), text: z.string().optional(), score: z.number() }),
);

const examples = {
  request: { query: 'How long is it?', texts: ['Two hours.', 'A quiet marvel.'] },
  response: [
    { index: 0, score: 0.9133 },
    { index: 1, score: 0.0402 },
  ],
};

/** POST /rerank: ranks texts by their relevance to a query. Scores use a sigmoid instead of the activation of the model. */
export function rerank(
  rerankers: ModelResolver<'reranking'>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/rerank',
    abilities: ['reranking'],
    operationId: 'teiRerank',
    summary: 'Rank texts by their relevance to a query',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'INPUT_TOO_LONG', 'LIST_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: rerankers.admissionError,
    handler: async (call, body) => {
      const { model, query, texts, raw_scores, return_text } = body;
      requireNotEmpty([texts], 'texts', false);
      requireBatchSize(texts, listLength);
      const served = rerankers.resolve(model, call);
      const { ranks, inferences } = await rerankDocuments(call, served, {
        query,
        documents: texts,
        truncation: truncationOf(body),
        activation: raw_scores ? 'none' : 'sigmoid',
        field: 'texts',
      });
      const results = ranks.map(({ index, score }) => ({
        index,
        ...(return_text && { text: texts[index] }),
        score,
      }));
      const characters = texts.length * countCharacters([query]) + countCharacters(texts);
      const headers = computeHeaders(call.startedAt, inferences, characters);
      return { body: results, inferences, headers };
    },
  });
}
