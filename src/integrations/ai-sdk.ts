/**
 * Models for the Vercel AI SDK (`ai` 7): embeddings and reranking, of a server or in this process.
 *
 * ```js
 * import { embedMany } from 'ai';
 * import { createLibtorchServe } from 'libtorch-serve/ai-sdk';
 *
 * const server = createLibtorchServe('http://localhost:8000');
 * const { embeddings } = await embedMany({ model: server.embeddingModel('all-MiniLM-L6-v2'), values: ['It rains.'] });
 * ```
 *
 * @module ai-sdk
 */
import type { EmbeddingModelV4, JSONObject, ProviderV4, RerankingModelV4 } from '@ai-sdk/provider';
import type { ClientOptions } from '../client/client';
import {
  type DocumentRanker,
  MAX_TEXTS,
  rankDocuments,
  ServerModels,
  type TextEmbedder,
} from './models';

export type { ClientOptions } from '../client/client';
export type { DocumentRanker, TextEmbedder } from './models';

const PROVIDER = 'libtorch-serve';

/** A provider with the embedding models and rerankers of a server. */
export type LibtorchServeProvider = ProviderV4 & Required<Pick<ProviderV4, 'rerankingModel'>>;

/**
 * Provider for the models of a server, by their names.
 *
 * @param url URL of the server, such as `http://localhost:8000`
 */
export function createLibtorchServe(url: string, options?: ClientOptions): LibtorchServeProvider {
  const models = new ServerModels(url, options);
  const unsupported = (kind: string) => (): never => {
    throw new TypeError(
      `libtorch-serve has no ${kind} models. Use embeddingModel or rerankingModel`,
    );
  };
  return {
    specificationVersion: 'v4',
    embeddingModel: (name) => embeddingModel(models.embedder(name), name),
    rerankingModel: (name) => rerankingModel(models.ranker(name), name),
    languageModel: unsupported('language'),
    imageModel: unsupported('image'),
  };
}

/**
 * Embedding model. A prompt is selected by `providerOptions: { 'libtorch-serve': { promptName: 'query' } }`.
 *
 * @param embedder an `Embedder` in this process, or an `EmbedClient`
 */
export function embeddingModel(embedder: TextEmbedder, modelId = 'embedder'): EmbeddingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: PROVIDER,
    modelId,
    maxEmbeddingsPerCall: MAX_TEXTS,
    supportsParallelCalls: true,
    async doEmbed({ values, dimensions, abortSignal, providerOptions }) {
      const promptName = providerOptions?.[PROVIDER]?.promptName;
      const vectors = await embedder.embedBatch(values, {
        ...(dimensions !== undefined && { dimensions }),
        ...(typeof promptName === 'string' && { promptName }),
        ...(abortSignal && { signal: abortSignal }),
      });
      return { embeddings: vectors.map((vector) => [...vector]), warnings: [] };
    },
  };
}

/**
 * Reranking model. Documents that are objects are ranked by their JSON text.
 *
 * @param ranker a `Reranker` in this process, or a `RerankClient`
 */
export function rerankingModel(ranker: DocumentRanker, modelId = 'reranker'): RerankingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: PROVIDER,
    modelId,
    async doRerank({ query, documents, topN, abortSignal }) {
      const texts =
        documents.type === 'text'
          ? documents.values
          : documents.values.map((value: JSONObject) => JSON.stringify(value));
      const ranked = await rankDocuments(ranker, query, texts, {
        ...(topN !== undefined && { topN }),
        ...(abortSignal && { signal: abortSignal }),
      });
      return { ranking: ranked.map(({ index, score }) => ({ index, relevanceScore: score })) };
    },
  };
}
