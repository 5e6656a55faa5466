/**
 * Classes for LangChain: embeddings and a document compressor, of a server or in this process.
 *
 * ```js
 * import { LibtorchServeEmbeddings } from 'libtorch-serve/langchain';
 *
 * const embeddings = LibtorchServeEmbeddings.ofServer('http://localhost:8000', 'all-MiniLM-L6-v2');
 * await embeddings.embedQuery('It rains.');
 * ```
 *
 * @module langchain
 */
import type { DocumentInterface } from '@langchain/core/documents';
import { Embeddings, type EmbeddingsParams } from '@langchain/core/embeddings';
import { BaseDocumentCompressor } from '@langchain/core/retrievers/document_compressors';
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

export interface LibtorchServeEmbeddingsOptions extends EmbeddingsParams {
  /** Truncates embeddings to this number of dimensions. */
  readonly dimensions?: number;
  /** Name of the prompt of queries. Default: the default prompt of the model. */
  readonly queryPrompt?: string;
  /** Name of the prompt of documents. Default: the default prompt of the model. */
  readonly documentPrompt?: string;
}

/** Embeddings of an `Embedder` in this process, or of an `EmbedClient`. */
export class LibtorchServeEmbeddings extends Embeddings {
  readonly #embedder: TextEmbedder;
  readonly #options: LibtorchServeEmbeddingsOptions;

  constructor(embedder: TextEmbedder, options: LibtorchServeEmbeddingsOptions = {}) {
    super(options);
    this.#embedder = embedder;
    this.#options = options;
  }

  /** Embeddings of a model of a server. @param url URL of the server, such as `http://localhost:8000` */
  static ofServer(
    url: string,
    name: string,
    options: LibtorchServeEmbeddingsOptions & ClientOptions = {},
  ): LibtorchServeEmbeddings {
    return new LibtorchServeEmbeddings(new ServerModels(url, options).embedder(name), options);
  }

  override async embedDocuments(documents: string[]): Promise<number[][]> {
    const vectors: number[][] = [];
    for (let first = 0; first < documents.length; first += MAX_TEXTS) {
      const texts = documents.slice(first, first + MAX_TEXTS);
      vectors.push(...(await this.#embed(texts, this.#options.documentPrompt)));
    }
    return vectors;
  }

  override async embedQuery(query: string): Promise<number[]> {
    const [vector = []] = await this.#embed([query], this.#options.queryPrompt);
    return vector;
  }

  async #embed(texts: readonly string[], promptName: string | undefined): Promise<number[][]> {
    const { dimensions } = this.#options;
    const vectors = await this.caller.call(() =>
      this.#embedder.embedBatch(texts, {
        ...(dimensions !== undefined && { dimensions }),
        ...(promptName !== undefined && { promptName }),
      }),
    );
    return vectors.map((vector) => [...vector]);
  }
}

/**
 * Keeps the documents with the highest relevance to a query, best first. The score is `relevanceScore` in the metadata
 * of a document.
 */
export class LibtorchServeReranker extends BaseDocumentCompressor {
  readonly #ranker: DocumentRanker;
  readonly #topN: number | undefined;

  /**
   * @param ranker a `Reranker` in this process, or a `RerankClient`
   * @param topN maximum number of documents to keep. Default: all
   */
  constructor(ranker: DocumentRanker, { topN }: { readonly topN?: number } = {}) {
    super();
    this.#ranker = ranker;
    this.#topN = topN;
  }

  /** Reranker of a server. @param url URL of the server, such as `http://localhost:8000` */
  static ofServer(
    url: string,
    name: string,
    options: ClientOptions & { readonly topN?: number } = {},
  ): LibtorchServeReranker {
    return new LibtorchServeReranker(new ServerModels(url, options).ranker(name), options);
  }

  override async compressDocuments(
    documents: DocumentInterface[],
    query: string,
  ): Promise<DocumentInterface[]> {
    const texts = documents.map(({ pageContent }) => pageContent);
    const topN = this.#topN;
    const ranked = await rankDocuments(this.#ranker, query, texts, {
      ...(topN !== undefined && { topN }),
    });
    return ranked.map(({ index, score }) => {
      const document = documents[index] as DocumentInterface;
      return { ...document, metadata: { ...document.metadata, relevanceScore: score } };
    });
  }
}
