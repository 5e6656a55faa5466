import path from 'node:path';
import type { SchedulingOptions, TextInput } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { PairScore } from '../tasks/capabilities';
import { reranking } from '../tasks/registry';
import { type RerankerMetadata, toPair } from '../tasks/reranking/cross-encoder';
import { type RankedDocument, rankByScore } from '../tasks/reranking/ranking';
import {
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
  ModelEngine,
  type RunOptions,
} from './engine';

export interface RerankerOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of a cross-encoder with one label, written by `save_pretrained`. */
  readonly modelDirectory: string;
}

export interface RankOptions extends RunOptions {
  /** Maximum number of documents in the result, best first. Default: all. */
  readonly topN?: number;
}

/**
 * Cross-encoder that ranks documents by relevance to a query, as `CrossEncoder` does. Load it once
 * and call `close` to release it.
 */
export class Reranker extends ModelEngine<TextInput, PairScore, RerankerMetadata> {
  /**
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names
   *   the file and the key
   */
  static async load({ modelDirectory, ...options }: RerankerOptions): Promise<Reranker> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return new Reranker(await loadTexts(reranking, path.resolve(modelDirectory), scheduling));
  }

  /** Maximum length of a text pair in tokens. Longer pairs are truncated. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /**
   * Scores each document against the query, as `CrossEncoder.predict` does.
   *
   * @returns one array per document, in input order, with one score per label
   * @throws EngineError, InputError with the index of the document
   */
  async score(
    query: string,
    documents: readonly string[],
    options: RunOptions = {},
  ): Promise<readonly Float32Array[]> {
    requireText(query, 'query: ', null);
    for (const [index, document] of documents.entries()) requireText(document, '', index);
    const pairs = documents.map((document) => toPair(query, document));
    return (await this.model.runAll(pairs, options)).map(({ scores }) => scores);
  }

  /**
   * Ranks the documents by descending score, as `CrossEncoder.rank` does.
   *
   * @throws errors of `score`; InputError if the model has several labels
   */
  async rank(
    query: string,
    documents: readonly string[],
    { topN, ...options }: RankOptions = {},
  ): Promise<readonly RankedDocument[]> {
    const { length } = this.model.metadata.labels;
    if (length > 1)
      throw new InputError(`ranking needs a model with one label, this model has ${length}`, null);
    const scores = await this.score(query, documents, options);
    return rankByScore(
      scores.map(([score]) => score as number),
      topN,
    );
  }
}

function requireText(value: unknown, path: string, index: number | null): void {
  if (typeof value === 'string') return;
  const received = value === null ? 'null' : typeof value;
  throw new InputError(`${path}expected a string, received ${received}`, index);
}
