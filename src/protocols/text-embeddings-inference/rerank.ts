import { z } from 'zod';
import { sigmoid } from '../../numeric/activations';
import { ServiceError } from '../../serving/errors';
import { toPair } from '../../tasks/reranking/cross-encoder';
import { rankByScore } from '../../tasks/reranking/ranking';
import type { ModelResolver } from '../model-resolver';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { scorePairs } from '../ranking';
import { parseBody, type Route } from '../route';
import { requireBatchSize, timeHeaders } from './shared';
import { cuttingOf, rerankBody } from './tei-body';

const answer = z.array(
  z.object({ index: z.int(), text: z.string().optional(), score: z.number() }),
);

const EXAMPLE = {
  request: { query: 'How long is it?', texts: ['Two hours.', 'A quiet marvel.'] },
  answer: [
    { index: 0, score: 0.9133 },
    { index: 1, score: 0.0402 },
  ],
};

/** POST /rerank: texts by how well they answer a query. Scores are a sigmoid's, whatever the model's own is. */
export function rerank(
  rerankers: ModelResolver<'scores pairs'>,
  { listLength }: ProtocolOptions,
): Route {
  return {
    method: 'POST',
    path: '/rerank',
    refusal: rerankers.refusal,
    handle: async (call) => {
      const body = parseBody(rerankBody, call);
      const { query, texts, raw_scores, return_text } = body;
      if (texts.length === 0) {
        const message = 'Input validation error: `texts` cannot be empty';
        throw new ServiceError('INPUT_EMPTY', message);
      }
      requireBatchSize(texts, listLength);
      const served = rerankers.resolve(null, call);
      const { model } = served;
      const cut = cuttingOf(body);
      const pairs = texts.map((text) => ({ ...toPair(query, text), ...cut }));
      const scored = await scorePairs(model, pairs, call.inferOptions(served), 'texts');
      const scores = scored.inferences.map(
        ({ values }) => (raw_scores ? values : sigmoid(values))[0] as number,
      );
      const ranks = rankByScore(scores).map(({ index, score }) => ({
        index,
        ...(return_text && { text: texts[index] }),
        score,
      }));
      const { inferences } = scored;
      return { body: ranks, inferences, headers: timeHeaders(call.startedAt, inferences) };
    },
    describe: () => ({
      id: 'teiRerank',
      summary: 'Texts by how well they answer a query',
      request: { name: 'TeiRerankRequest', schema: rerankBody, example: EXAMPLE.request },
      answer: { name: 'TeiRerankAnswer', schema: answer, example: EXAMPLE.answer },
      headers: TRUNCATED_HEADER,
      errors: {
        400: 'There is no text, the model has several labels, or the deadline is no number of milliseconds.',
        404: 'No model is loaded that ranks.',
        413: 'The body is over BODY_LIMIT, or the response would be over RESPONSE_LIMIT.',
        415: ANALYSIS_ERRORS[415],
        422: `The body is not valid, there are more texts than ${listLength}, or one is too long and not to be cut.`,
        424: 'The model raised an error, whose message this is, or ran longer than it may.',
        429: 'The queue is full, or its wait would be, or was, too long.',
        503: 'The model is not loaded, or the service is shutting down.',
      },
    }),
  };
}
