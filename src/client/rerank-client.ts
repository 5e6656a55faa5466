import type { ServiceInfo } from '../protocols/own/info';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface RerankOptions extends CallOptions {
  /** So many documents, the best ones. Default: all. */
  readonly topN?: number;
}

/** A document by its place in the list that was sent. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/** Of a cross-encoder: `http://localhost:8000/models/NAME`. */
export class RerankClient extends Client<ServiceInfo> {
  /** @returns by falling score */
  async rerank(
    query: string,
    documents: readonly string[],
    options: RerankOptions = {},
  ): Promise<readonly RankedDocument[]> {
    const { topN } = options;
    const body = {
      query,
      documents,
      return_documents: false,
      ...(topN !== undefined && { top_n: topN }),
    };
    type Answer = { readonly results: readonly { index: number; relevance_score: number }[] };
    const { results } = await this.call<Answer>('/v1/rerank', body, options);
    return results.map(({ index, relevance_score: score }) => ({ index, score }));
  }
}
