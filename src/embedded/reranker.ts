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
  /** Of a cross-encoder with one label: a folder that `save_pretrained` wrote. */
  readonly modelDirectory: string;
}

export interface RankOptions extends RunOptions {
  /** So many documents, the best ones. Default: all. */
  readonly topN?: number;
}

/** A query with documents, as `CrossEncoder`. Loaded once; `close` when it is no longer needed. */
export class Reranker extends ModelEngine<TextInput, PairScore, RerankerMetadata> {
  /**
   * @throws ConfigError: an option is wrong; EngineError with code MODEL_LOAD_FAILED, whose message
   *   names the file and the key at fault
   */
  static async load({ modelDirectory, ...options }: RerankerOptions): Promise<Reranker> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return new Reranker(await loadTexts(reranking, path.resolve(modelDirectory), scheduling));
  }

  /** Tokens of a query and a document together; longer ones are cut. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /**
   * `CrossEncoder.predict` with each of the documents.
   *
   * @returns of each document its score or, of a model of several labels, those of each
   * @throws EngineError, InputError: with the index of the document at fault
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
   * `CrossEncoder.rank`: by falling score.
   *
   * @throws as `score`; InputError: the model has several labels, and ranks by none
   */
  async rank(
    query: string,
    documents: readonly string[],
    { topN, ...options }: RankOptions = {},
  ): Promise<readonly RankedDocument[]> {
    const { length } = this.model.metadata.labels;
    if (length > 1) throw new InputError(`the model has ${length} labels, and ranks by none`, null);
    const scores = await this.score(query, documents, options);
    return rankByScore(
      scores.map(([score]) => score as number),
      topN,
    );
  }
}

function requireText(value: unknown, place: string, index: number | null): void {
  if (typeof value === 'string') return;
  const received = value === null ? 'null' : typeof value;
  throw new InputError(`${place}expected a string, received ${received}`, index);
}
