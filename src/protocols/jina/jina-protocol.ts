import { z } from 'zod';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import { rerank as rerankDocuments } from '../../services/rerank';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import { DETAIL_FORMAT, DETAIL_SCHEMA, type Protocol, type ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, object, string } from '../validation/fields';
import { documentList, modelName, topN } from '../validation/rerank-fields';

const request = object({
  model: modelName(),
  query: string(),
  documents: documentList(),
  top_n: topN(),
  top_k: topN().describe('`top_n` of Voyage'),
  return_documents: boolean()
    .nullish()
    .describe(
      'Whether `results` (default: true) and `data` (default: false) contain the documents',
    ),
  truncation: boolean()
    .nullish()
    .describe('false: reject pairs longer than the model allows. Default: truncate them'),
});

const response = z.object({
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
  data: z
    .array(
      z.object({
        index: z.int(),
        relevance_score: z.number(),
        document: z.string().optional(),
      }),
    )
    .describe('`results` in the format of Voyage'),
});

const examples = {
  request: { query: 'How long is it?', documents: ['Two hours.', 'A quiet marvel.'], top_n: 1 },
  response: {
    model: 'reranker',
    object: 'list',
    usage: { total_tokens: 21, prompt_tokens: 21 },
    results: [{ index: 0, relevance_score: 0.9133, document: { text: 'Two hours.' } }],
    data: [{ index: 0, relevance_score: 0.9133 }],
  },
};

/** Jina's API for one model; null: the model is not a reranker. */
export function jina(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'reranking');
  return rerankers && jinaOf(rerankers, options);
}

/** Jina's API for all rerankers. */
export function jinaOf(rerankers: ModelResolver<'reranking'>, options: ProtocolOptions): Protocol {
  return {
    routes: [rerank(rerankers, options)],
    prefix: null,
    errors: DETAIL_FORMAT,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Jina', description: "Reranking with Jina's and Voyage's API." },
    error: DETAIL_SCHEMA,
  };
}

/**
 * POST /v1/rerank: ranks documents by their relevance to a query. Clients of Voyage, LocalAI, vLLM, infinity and
 * version 1 of Cohere's API use this route, too. Clients of Voyage read `data`. Their requests do not always differ
 * from those of Jina, so each response has both lists.
 */
function rerank(rerankers: ModelResolver<'reranking'>, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/v1/rerank',
    abilities: ['reranking'],
    operationId: 'jinaRerank',
    summary: 'Rank documents by their relevance to a query',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: rerankers.admissionError,
    handler: async (call, { model: name, query, documents, return_documents, ...body }) => {
      requireListLength(documents, 'documents', listLength);
      const served = rerankers.resolve(name, call);
      const { ranks, tokens, inferences } = await rerankDocuments(call, served, {
        query,
        documents,
        topN: body.top_n ?? body.top_k,
        truncation: body.truncation === false ? { truncation: 'do_not_truncate' } : {},
        field: 'documents',
      });
      const ranking: z.infer<typeof response> = {
        model: served.title,
        object: 'list',
        usage: { total_tokens: tokens, prompt_tokens: tokens },
        results: ranks.map(({ index, score }) => ({
          index,
          relevance_score: score,
          ...(return_documents !== false && { document: { text: documents[index] as string } }),
        })),
        data: ranks.map(({ index, score }) => ({
          index,
          relevance_score: score,
          ...(return_documents === true && { document: documents[index] as string }),
        })),
      };
      return { body: ranking, inferences };
    },
  });
}
