/**
 * Models for the Vercel AI SDK (`ai` 7): embeddings, reranking and decisions, of a server or in this process.
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
import type {
  Experimental_DecisionModelV4 as DecisionModelV4,
  EmbeddingModelV4,
  JSONObject,
  ProviderV4,
  RerankingModelV4,
} from '@ai-sdk/provider';
import type { ClientOptions } from '../client/client';
import { fromAnswers, questionsOf, stateOf } from './decisions';
import {
  type DocumentRanker,
  MAX_TEXTS,
  type QuestionAnswerer,
  rankDocuments,
  ServerModels,
  type TextEmbedder,
} from './models';

export type { ClientOptions } from '../client/client';
export type { DocumentRanker, QuestionAnswerer, TextEmbedder } from './models';

const PROVIDER = 'libtorch-serve';

/** A provider with the embedding models, rerankers and decision models of a server. */
export type LibtorchServeProvider = ProviderV4 &
  Required<Pick<ProviderV4, 'rerankingModel'>> & {
    decisionModel(name: string): DecisionModelV4;
  };

/**
 * Provider for the models of a server, by their names.
 *
 * @param url URL of the server, such as `http://localhost:8000`
 */
export function createLibtorchServe(url: string, options?: ClientOptions): LibtorchServeProvider {
  const models = new ServerModels(url, options);
  const unsupported = (kind: string) => (): never => {
    throw new TypeError(
      `libtorch-serve has no ${kind} models. Use embeddingModel, rerankingModel or decisionModel`,
    );
  };
  return {
    specificationVersion: 'v4',
    embeddingModel: (name) => embeddingModel(models.embedder(name), name),
    rerankingModel: (name) => rerankingModel(models.ranker(name), name),
    decisionModel: (name) => decisionModel(models.decider(name), name),
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

/**
 * Decision model, for `experimental_decide`. The parts of a state are read line by line; images are not supported.
 * `providerMetadata['libtorch-serve']` has the confidence of each choice and score.
 *
 * @param answerer a `Decider` in this process, or a `DecideClient`
 */
export function decisionModel(answerer: QuestionAnswerer, modelId = 'decider'): DecisionModelV4 {
  return {
    specificationVersion: 'v4',
    provider: PROVIDER,
    modelId,
    supportedQuestionTypes: ['choice', 'score', 'boolean'],
    async doDecide({ state, questions, abortSignal }) {
      const options = abortSignal ? { signal: abortSignal } : {};
      const answers = await answerer.decide(stateOf(state), questionsOf(questions), options);
      const { decimals } = answerer;
      return {
        ...fromAnswers(answers, PROVIDER),
        ...(decimals !== null && {
          rounding: { probabilityDecimals: decimals, scoreDecimals: decimals },
        }),
      };
    },
  };
}
