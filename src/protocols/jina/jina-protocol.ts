import { z } from 'zod';
import { toPair } from '../../tasks/reranking/cross-encoder';
import { rankByScore } from '../../tasks/reranking/ranking';
import type { ServedModel } from '../../tasks/served';
import { ModelResolver } from '../model-resolver';
import { TRUNCATED_HEADER } from '../openapi/responses';
import { DETAIL, type Protocol, type ProtocolOptions } from '../protocol';
import {
  documentList,
  modelName,
  RANKING_ERRORS,
  scoreOf,
  scorePairs,
  tokensOf,
  topN,
} from '../ranking';
import { parseBody, type Route, requireListLength } from '../route';
import { boolean, object, string } from '../validation/fields';

const body = object({
  model: modelName(),
  query: string(),
  documents: documentList(),
  top_n: topN(),
  return_documents: boolean().nullish().describe('Whether they come back. Default: true'),
});

const answer = z.object({
  model: z.string(),
  object: z.literal('list'),
  usage: z.object({ total_tokens: z.int(), prompt_tokens: z.int() }),
  results: z.array(
    z.object({
      index: z.int(),
      relevance_score: z.number(),
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
});

const EXAMPLE = {
  request: { query: 'How long is it?', documents: ['Two hours.', 'A quiet marvel.'], top_n: 1 },
  answer: {
    model: 'reranker',
    object: 'list',
    usage: { total_tokens: 21, prompt_tokens: 21 },
    results: [{ index: 0, relevance_score: 0.9133, document: { text: 'Two hours.' } }],
  },
};

/** Jina's POST /v1/rerank, which many others speak: LocalAI, vLLM, infinity, Cohere's first version. */
export function jina(served: ServedModel, surroundings: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'scores pairs');
  return rerankers && jinaOf(rerankers, surroundings);
}

/** The same of all models that can be named. */
export function jinaOf(
  rerankers: ModelResolver<'scores pairs'>,
  surroundings: ProtocolOptions,
): Protocol {
  return {
    routes: [rerank(rerankers, surroundings)],
    prefix: null,
    errors: DETAIL,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Jina', description: 'Reranking as Jina has it.' },
    error: { name: 'JinaError', schema: z.object({ detail: z.string() }) },
  };
}

function rerank(rerankers: ModelResolver<'scores pairs'>, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/v1/rerank',
    refusal: rerankers.refusal,
    handle: async (call) => {
      const asked = parseBody(body, call);
      const { query, documents, top_n, return_documents } = asked;
      requireListLength(documents, 'documents', listLength);
      const served = rerankers.resolve(asked.model, call);
      const { model, title } = served;
      const pairs = documents.map((document) => toPair(query, document));
      const scored = await scorePairs(model, pairs, call.inferOptions(served), 'documents');
      const total_tokens = tokensOf(scored.inferences);
      const results = rankByScore(scored.answers.map(scoreOf), top_n).map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(return_documents !== false && { document: { text: documents[index] } }),
      }));
      const usage = { total_tokens, prompt_tokens: total_tokens };
      return {
        body: { model: title, object: 'list', usage, results },
        inferences: scored.inferences,
      };
    },
    describe: () => ({
      id: 'jinaRerank',
      summary: 'Documents by how well they answer a query',
      headers: TRUNCATED_HEADER,
      request: { name: 'JinaRerankRequest', schema: body, example: EXAMPLE.request },
      answer: { name: 'JinaRerankAnswer', schema: answer, example: EXAMPLE.answer },
      errors: RANKING_ERRORS,
    }),
  };
}
