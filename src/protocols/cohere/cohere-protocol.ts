import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ERRORS, ServiceError } from '../../serving/errors';
import { toPair } from '../../tasks/reranking/cross-encoder';
import { rankByScore } from '../../tasks/reranking/ranking';
import type { ServedModel } from '../../tasks/served';
import { ModelResolver } from '../model-resolver';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ErrorShape, Protocol, ProtocolOptions } from '../protocol';
import { documentList, modelName, RANKING_ERRORS, scoreOf, scorePairs, topN } from '../ranking';
import { parseBody, type Route, requireListLength } from '../route';
import { expected, object, string } from '../validation/fields';

/** Of which a search may have, to be billed as one. */
const DOCUMENTS_OF_A_SEARCH = 100;

const body = object({
  model: modelName(),
  query: string(),
  documents: documentList(),
  top_n: topN(),
  max_tokens_per_doc: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('No less than the model takes, by which documents are cut'),
  relevant_spans: z.null({ error: 'is not supported' }).optional(),
});

const answer = z.object({
  id: z.string(),
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
  meta: z.object({
    api_version: z.object({ version: z.literal('2') }),
    billed_units: z.object({ search_units: z.int() }),
  }),
});

const EXAMPLE = {
  request: { model: 'any', query: 'How long is it?', documents: ['Two hours.', 'A marvel.'] },
  answer: {
    id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    results: [
      { index: 0, relevance_score: 0.9133 },
      { index: 1, relevance_score: 0.0402 },
    ],
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  },
};

/** As its clients know them; a body that is not as it should be is 400 there. */
const errors: ErrorShape = {
  status: (code) => (code === 'BODY_INVALID' ? 400 : ERRORS[code].http),
  body: ({ message }) => ({ message }),
};

/** Cohere's POST /v2/rerank, for its clients. */
export function cohere(served: ServedModel, surroundings: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'scores pairs');
  return rerankers && cohereOf(rerankers, surroundings);
}

/** The same of all models that can be named. */
export function cohereOf(
  rerankers: ModelResolver<'scores pairs'>,
  surroundings: ProtocolOptions,
): Protocol {
  return {
    routes: [rerank(rerankers, surroundings)],
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Cohere', description: 'Reranking as Cohere has it.' },
    error: { name: 'CohereError', schema: z.object({ message: z.string() }) },
  };
}

function rerank(rerankers: ModelResolver<'scores pairs'>, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/v2/rerank',
    refusal: rerankers.refusal,
    handle: async (call) => {
      const asked = parseBody(body, call);
      const { query, documents, top_n, max_tokens_per_doc } = asked;
      requireListLength(documents, 'documents', listLength);
      const served = rerankers.resolve(asked.model, call);
      const { model } = served;
      if (max_tokens_per_doc && max_tokens_per_doc < model.maxLength) {
        const message = `max_tokens_per_doc: expected at least ${model.maxLength}, which the model takes of both texts`;
        throw new ServiceError('BODY_INVALID', message);
      }
      const pairs = documents.map((document) => toPair(query, document));
      const scored = await scorePairs(model, pairs, call.inferOptions(served), 'documents');
      const search_units = Math.ceil(documents.length / DOCUMENTS_OF_A_SEARCH);
      return {
        body: {
          id: randomUUID(),
          results: rankByScore(scored.answers.map(scoreOf), top_n).map(({ index, score }) => ({
            index,
            relevance_score: score,
          })),
          meta: { api_version: { version: '2' }, billed_units: { search_units } },
        },
        inferences: scored.inferences,
      };
    },
    describe: () => ({
      id: 'cohereRerank',
      summary: 'Documents by how well they answer a query',
      headers: TRUNCATED_HEADER,
      request: { name: 'CohereRerankRequest', schema: body, example: EXAMPLE.request },
      answer: { name: 'CohereRerankAnswer', schema: answer, example: EXAMPLE.answer },
      errors: {
        ...Object.fromEntries(
          Object.entries(RANKING_ERRORS).filter(([status]) => status !== '422'),
        ),
        400: 'The body is not valid, or the model has several labels.',
      },
    }),
  };
}
