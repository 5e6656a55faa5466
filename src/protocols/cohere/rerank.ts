import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import { rerank as rerankDocuments } from '../../services/rerank';
import { truncateDocuments } from '../../services/truncate-documents';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { expected, object, string } from '../validation/fields';
import { documentList, modelName, topN } from '../validation/rerank-fields';
import { cohereProtocol } from './cohere-format';

/** Maximum number of documents that Cohere bills as one search. */
const DOCUMENTS_PER_SEARCH = 100;

const request = object({
  model: modelName(),
  query: string(),
  documents: documentList(),
  top_n: topN(),
  max_tokens_per_doc: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe(
      'Maximum number of tokens of a document without special tokens; longer documents are truncated. Default: the limit of the model, to which each pair is truncated',
    ),
  relevant_spans: z.null({ error: 'is not supported' }).optional(),
});

const response = z.object({
  id: z.string(),
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
  meta: z.object({
    api_version: z.object({ version: z.literal('2') }),
    billed_units: z.object({ search_units: z.int() }),
  }),
});

const examples = {
  request: { model: 'any', query: 'How long is it?', documents: ['Two hours.', 'A marvel.'] },
  response: {
    id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    results: [
      { index: 0, relevance_score: 0.9133 },
      { index: 1, relevance_score: 0.0402 },
    ],
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  },
};

/** Reranking with Cohere's API for one model; null: the model is not a reranker. */
export function cohereRerank(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'reranking');
  return rerankers && cohereRerankOf(rerankers, options);
}

/** Reranking with Cohere's API for all rerankers. */
export function cohereRerankOf(
  rerankers: ModelResolver<'reranking'>,
  options: ProtocolOptions,
): Protocol {
  return cohereProtocol([rerank(rerankers, options)]);
}

/** POST /v2/rerank: ranks documents by their relevance to a query. */
function rerank(rerankers: ModelResolver<'reranking'>, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/v2/rerank',
    abilities: ['reranking'],
    operationId: 'cohereRerank',
    summary: 'Rank documents by their relevance to a query',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: rerankers.admissionError,
    handler: async (call, { model: name, query, documents, top_n, max_tokens_per_doc }) => {
      requireListLength(documents, 'documents', listLength);
      const served = rerankers.resolve(name, call);
      const { texts, isTruncated } = await truncateDocuments(call, served, {
        documents,
        maxTokens: max_tokens_per_doc ?? null,
        field: 'documents',
      });
      const { ranks, inferences } = await rerankDocuments(call, served, {
        query,
        documents: texts,
        topN: top_n,
        field: 'documents',
      });
      const body: z.infer<typeof response> = {
        id: randomUUID(),
        results: ranks.map(({ index, score }) => ({ index, relevance_score: score })),
        meta: {
          api_version: { version: '2' },
          billed_units: { search_units: Math.ceil(documents.length / DOCUMENTS_PER_SEARCH) },
        },
      };
      const headers = isTruncated ? { 'X-Input-Truncated': 'true' } : {};
      return { body, inferences, headers };
    },
  });
}
