/**
 * Classes for LlamaIndex.TS: an embedding model and a node postprocessor, of a server or in this process.
 *
 * ```js
 * import { LibtorchServeEmbedding } from 'libtorch-serve/llamaindex';
 *
 * const embedding = LibtorchServeEmbedding.ofServer('http://localhost:8000', 'all-MiniLM-L6-v2');
 * await embedding.getTextEmbedding('It rains.');
 * ```
 *
 * @module llamaindex
 */
import { BaseEmbedding } from '@llamaindex/core/embeddings';
import type { MessageContent, MessageContentDetail } from '@llamaindex/core/llms';
import type { BaseNodePostprocessor } from '@llamaindex/core/postprocessor';
import { MetadataMode, type NodeWithScore } from '@llamaindex/core/schema';
import { extractText } from '@llamaindex/core/utils';
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

export interface LibtorchServeEmbeddingOptions {
  /** Truncates embeddings to this number of dimensions. */
  readonly dimensions?: number;
  /** Name of the prompt of queries. Default: the default prompt of the model. */
  readonly queryPrompt?: string;
  /** Name of the prompt of documents. Default: the default prompt of the model. */
  readonly documentPrompt?: string;
}

/** Embeddings of an `Embedder` in this process, or of an `EmbedClient`. */
export class LibtorchServeEmbedding extends BaseEmbedding {
  readonly #embedder: TextEmbedder;
  readonly #options: LibtorchServeEmbeddingOptions;

  constructor(embedder: TextEmbedder, options: LibtorchServeEmbeddingOptions = {}) {
    super();
    this.embedBatchSize = MAX_TEXTS;
    this.#embedder = embedder;
    this.#options = options;
  }

  /** Embeddings of a model of a server. @param url URL of the server, such as `http://localhost:8000` */
  static ofServer(
    url: string,
    name: string,
    options: LibtorchServeEmbeddingOptions & ClientOptions = {},
  ): LibtorchServeEmbedding {
    return new LibtorchServeEmbedding(new ServerModels(url, options).embedder(name), options);
  }

  override async getTextEmbedding(text: string): Promise<number[]> {
    const [vector = []] = await this.getTextEmbeddings([text]);
    return vector;
  }

  override getTextEmbeddings = (texts: string[]): Promise<number[][]> =>
    this.#embed(texts, this.#options.documentPrompt);

  override async getQueryEmbedding(query: MessageContentDetail): Promise<number[] | null> {
    if (query.type !== 'text') return null;
    const [vector = null] = await this.#embed([query.text], this.#options.queryPrompt);
    return vector;
  }

  async #embed(texts: readonly string[], promptName: string | undefined): Promise<number[][]> {
    const { dimensions } = this.#options;
    const vectors = await this.#embedder.embedBatch(texts, {
      ...(dimensions !== undefined && { dimensions }),
      ...(promptName !== undefined && { promptName }),
    });
    return vectors.map((vector) => [...vector]);
  }
}

/** Orders nodes by their relevance to the query, best first, and keeps the best. */
export class LibtorchServeRerank implements BaseNodePostprocessor {
  readonly #ranker: DocumentRanker;
  readonly #topN: number | undefined;

  /**
   * @param ranker a `Reranker` in this process, or a `RerankClient`
   * @param topN maximum number of nodes to keep. Default: all
   */
  constructor(ranker: DocumentRanker, { topN }: { readonly topN?: number } = {}) {
    this.#ranker = ranker;
    this.#topN = topN;
  }

  /** Reranker of a server. @param url URL of the server, such as `http://localhost:8000` */
  static ofServer(
    url: string,
    name: string,
    options: ClientOptions & { readonly topN?: number } = {},
  ): LibtorchServeRerank {
    return new LibtorchServeRerank(new ServerModels(url, options).ranker(name), options);
  }

  async postprocessNodes(nodes: NodeWithScore[], query?: MessageContent): Promise<NodeWithScore[]> {
    if (query === undefined || nodes.length === 0) return nodes;
    const texts = nodes.map(({ node }) => node.getContent(MetadataMode.EMBED));
    const topN = this.#topN;
    const ranked = await rankDocuments(this.#ranker, extractText(query), texts, {
      ...(topN !== undefined && { topN }),
    });
    return ranked.map(({ index, score }) => ({ ...(nodes[index] as NodeWithScore), score }));
  }
}
