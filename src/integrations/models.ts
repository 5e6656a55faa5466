import type { ClientOptions } from '../client/client';
import { DecideClient } from '../client/decide-client';
import { EmbedClient, RerankClient } from '../client/task-clients';

/** Options of a call, of the clients and of the models in this process. */
interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Embeds texts: `EmbedClient`, or `Embedder` in this process. */
export interface TextEmbedder {
  embedBatch(
    texts: readonly string[],
    options?: CallOptions & { readonly dimensions?: number; readonly promptName?: string },
  ): Promise<readonly Float32Array[]>;
}

type Rank = (
  query: string,
  documents: readonly string[],
  options?: CallOptions & { readonly topN?: number },
) => Promise<readonly { readonly index: number; readonly score: number }[]>;

/** Ranks documents: `RerankClient`, or `Reranker` in this process. */
export type DocumentRanker = { readonly rerank: Rank } | { readonly rank: Rank };

/** Indices and scores of documents, best first. */
export function rankDocuments(ranker: DocumentRanker, ...call: Parameters<Rank>) {
  return 'rerank' in ranker ? ranker.rerank(...call) : ranker.rank(...call);
}

/** Answers questions: `DecideClient`, or `Decider` in this process. */
export interface QuestionAnswerer {
  /** Decimals of the numbers in an answer; null: they are not rounded. */
  readonly decimals: number | null;
  decide(
    state: DecideCall[0],
    questions: DecideCall[1],
    options?: CallOptions,
  ): ReturnType<DecideClient['decide']>;
}

type DecideCall = Parameters<DecideClient['decide']>;

/** Maximum number of texts in a request. The server's default `MAX_LIST_LENGTH` is larger. */
export const MAX_TEXTS = 256;

/** Clients of the models of a server. */
export class ServerModels {
  readonly #url: string;
  readonly #options: ClientOptions;

  /** @param url URL of the server, such as `http://localhost:8000` */
  constructor(url: string, options: ClientOptions = {}) {
    this.#url = url.replace(/\/+$/, '');
    this.#options = options;
  }

  /** @param name of an embedding model */
  embedder(name: string): EmbedClient {
    return new EmbedClient(this.#urlOf(name), this.#options);
  }

  /** @param name of a reranker */
  ranker(name: string): RerankClient {
    return new RerankClient(this.#urlOf(name), this.#options);
  }

  /** @param name of a model that answers questions */
  decider(name: string): DecideClient {
    return new DecideClient(this.#urlOf(name), this.#options);
  }

  #urlOf(name: string): string {
    return `${this.#url}/models/${encodeURIComponent(name)}`;
  }
}
