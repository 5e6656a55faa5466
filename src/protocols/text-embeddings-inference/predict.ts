import { z } from 'zod';
import { eachInTurn } from '../../lib/in-turns';
import { ServiceError } from '../../serving/errors';
import { requireResponseSize, scoresBytes } from '../../serving/response-size';
import type { TextClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/probabilities';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, refusalOf, requireModel, runList } from '../route';
import { requireBatchSize, timeHeaders } from './shared';
import { cuttingOf, predictBody } from './tei-body';

const predictions = z.array(z.object({ score: z.number(), label: z.string() }));
const answer = z.union([predictions, z.array(predictions)]);

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.' },
  answer: [
    { score: 0.9823, label: 'POSITIVE' },
    { score: 0.0177, label: 'NEGATIVE' },
  ],
};

/** POST /predict: labels by falling score, in a list for one input and in a list of lists for a batch. */
export function predict(
  served: ServedModel<TextClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  const classifier = served.model;
  return {
    method: 'POST',
    path: '/predict',
    refusal: refusalOf(classifier),
    handle: async (call) => {
      const body = parseBody(predictBody, call);
      const { texts, isBatch } = body.inputs;
      requireBatchSize(texts, listLength);
      for (const [index, { text, pair }] of texts.entries()) {
        if (text !== '' && pair !== '') continue;
        const place = isBatch ? `inputs[${index}]` : 'inputs';
        const message = `Input validation error: \`${place}\` cannot be empty`;
        throw new ServiceError('INPUT_EMPTY', message);
      }
      const model = requireModel(classifier);
      requireResponseSize(texts.length * scoresBytes(model.metadata.labels), responseLimit);
      const cut = cuttingOf(body);
      const inputs = texts.map((text) => ({ ...text, ...cut }));
      const field = isBatch ? 'inputs' : null;
      const { answers, inferences } = await runList(
        model,
        inputs,
        call.inferOptions(served),
        field,
      );
      const scoreFunction = body.raw_scores ? 'none' : null;
      const ranked = await eachInTurn(answers, (one) =>
        rank(model.metadata.labels, one, { scoreFunction }),
      );
      return {
        body: isBatch ? ranked : (ranked[0] as object),
        inferences,
        headers: timeHeaders(call.startedAt, inferences),
      };
    },
    describe: () => ({
      id: 'teiPredict',
      summary: 'Labels of a text, a pair of texts or a batch, by falling score',
      request: { name: 'TeiPredictRequest', schema: predictBody, example: EXAMPLE.request },
      answer: { name: 'TeiPredictAnswer', schema: answer, example: EXAMPLE.answer },
      headers: TRUNCATED_HEADER,
      errors: {
        400: 'A text is empty, or the deadline no number of milliseconds.',
        413: 'The body is over BODY_LIMIT, or the response would be over RESPONSE_LIMIT.',
        415: ANALYSIS_ERRORS[415],
        422: `The body is not valid, the batch is larger than ${listLength}, or a text is too long and not to be cut.`,
        424: 'The model raised an error, whose message this is, or ran longer than it may.',
        429: 'The queue is full, or its wait would be, or was, too long.',
        503: 'The model is not loaded, or the service is shutting down.',
      },
    }),
  };
}
