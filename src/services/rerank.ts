import { sigmoid } from '../lib/numbers';
import type { Inference, TextInput } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { PairScore, PairScorer } from '../tasks/capabilities';
import { toPair } from '../tasks/reranking/cross-encoder';
import { type RankedDocument, rankByScore } from '../tasks/reranking/ranking';
import type { ServedModel } from '../tasks/served-model';
import { inferList } from './inference';

/** The function from the output of the model to a score; `model`: the activation of the model. */
export type ScoreActivation = 'model' | 'sigmoid' | 'none';

/** How pairs are scored. */
interface ScoringOptions {
  /** Default: `model`. */
  readonly activation?: ScoreActivation;
  /** Name of the list in the request, for errors of one document. */
  readonly field: string;
}

interface Usage {
  /** Tokens of all pairs. */
  readonly tokens: number;
  readonly inferences: readonly Inference[];
}

type RerankerModel = ServedModel<PairScorer> & { readonly model: PairScorer };
type Caller = Pick<ServiceRequest, 'inferOptions'>;

/**
 * Ranks documents by their relevance to a query.
 *
 * @param topN maximum number of documents in the result; null or undefined: all
 * @returns the ranks by descending score; `index` is the position in `documents`
 * @throws as `scorePairs`
 */
export async function rerank(
  caller: Caller,
  served: RerankerModel,
  {
    query,
    documents,
    topN,
    truncation = {},
    ...options
  }: ScoringOptions & {
    readonly query: string;
    readonly documents: readonly string[];
    readonly topN?: number | null | undefined;
    readonly truncation?: Pick<TextInput, 'truncation' | 'truncationSide'>;
  },
): Promise<Usage & { readonly ranks: readonly RankedDocument[] }> {
  const pairs = documents.map((document) => ({ ...toPair(query, document), ...truncation }));
  const { scores, ...usage } = await scorePairs(caller, served, pairs, options);
  return { ...usage, ranks: rankByScore(scores, topN) };
}

/**
 * Scores text pairs with a reranker, as one request to the queue.
 *
 * @throws ServiceError REQUEST_INVALID: the model has several labels; EngineError, ElementError
 */
export async function scorePairs(
  caller: Caller,
  served: RerankerModel,
  pairs: readonly TextInput[],
  { activation = 'model', field }: ScoringOptions,
): Promise<Usage & { readonly scores: readonly number[] }> {
  const { length } = served.model.metadata.labels;
  const options = caller.inferOptions(served);
  if (length !== 1) {
    throw new ServiceError(
      'REQUEST_INVALID',
      `Reranking needs a model with one label, this model has ${length}. The Open Inference Protocol returns the scores of all labels.`,
    );
  }
  const { predictions, inferences } = await inferList(served.model, pairs, options, field);
  const scores = predictions.map((prediction) => scoreOf(prediction, activation));
  const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
  return { scores, tokens, inferences };
}

function scoreOf(
  { scores, inference: { values } }: PairScore,
  activation: ScoreActivation,
): number {
  const outputs =
    activation === 'model' ? scores : activation === 'sigmoid' ? sigmoid(values) : values;
  return outputs[0] as number;
}
