import { z } from 'zod';
import { eachInTurn } from '../../lib/in-turns';
import { requireResponseSize, scoresBytes } from '../../serving/response-size';
import type { TextClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/probabilities';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  parseBody,
  type Route,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../route';
import { FAILURES } from './failures';
import { classificationBody } from './hugging-face-body';

const answer = z.array(z.array(z.object({ label: z.string(), score: z.number() })));

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  answer: [[{ label: 'POSITIVE', score: 0.9823 }]],
};

/**
 * The text-classification task: for each text its labels by falling score. A list of lists for one
 * text, too: the clients of Hugging Face take the first of it. Any text will do, an empty one as well:
 * so it is with the pipelines of transformers.
 */
export function classification(
  served: ServedModel<TextClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Omit<Route, 'path'> {
  const classifier = served.model;
  return {
    method: 'POST',
    refusal: refusalOf(classifier),
    handle: async (call) => {
      const { inputs, parameters } = parseBody(classificationBody, call);
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const model = requireModel(classifier);
      requireResponseSize(texts.length * scoresBytes(model.metadata.labels), responseLimit);
      const field = isList ? 'inputs' : null;
      const { answers, inferences } = await runList(model, texts, call.inferOptions(served), field);
      const ranking = {
        scoreFunction: parameters?.function_to_apply,
        topK: parameters?.top_k,
      };
      return {
        body: await eachInTurn(answers, (one) => rank(model.metadata.labels, one, ranking)),
        inferences,
      };
    },
    describe: () => ({
      id: 'textClassification',
      summary: 'Labels of a text, by falling score',
      headers: TRUNCATED_HEADER,
      errors: FAILURES,
      request: { name: 'HuggingFaceRequest', schema: classificationBody, example: EXAMPLE.request },
      answer: { name: 'HuggingFaceAnswer', schema: answer, example: EXAMPLE.answer },
    }),
  };
}
