import { z } from 'zod';
import type { ClassifiesTexts } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/ranking';
import {
  type Endpoint,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Surroundings } from '../protocol';
import { classificationBody } from './body';

const answer = z.array(z.array(z.object({ label: z.string(), score: z.number() })));

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  answer: [[{ label: 'POSITIVE', score: 0.9823 }]],
};

const ERRORS = {
  400: 'The deadline is no number of milliseconds.',
  413: 'The body is over BODY_LIMIT, or the list over MAX_LIST_LENGTH.',
  415: 'The Content-Type is not JSON, or the Content-Encoding is unknown.',
  422: 'The body is not JSON, or a field is missing or of the wrong type.',
  500: 'The model is not loaded, or raised an error, whose message this is.',
  503: 'The queue is full, its wait would be too long, or the service is shutting down.',
  504: 'The deadline passed before the model ran, or the model ran longer than it may.',
};

/**
 * The text-classification task: for each text its labels by falling score. A list of lists for one
 * text, too: the clients of Hugging Face take the first of it. Any text will do, an empty one as well:
 * so it is with the pipelines of transformers.
 */
export function classification(
  { model: classifier }: Served<ClassifiesTexts>,
  { listLength }: Surroundings,
  { path, id, summary }: { readonly path: string; readonly id: string; readonly summary: string },
): Endpoint {
  return {
    path,
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { inputs, parameters } = parseBody(classificationBody, call);
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const model = requireModel(classifier);
      const running = model.runAll(texts, call.inferOptions());
      const classifications = await (isList ? namingElement('inputs', running) : running);
      const ranking = {
        scoreFunction: parameters?.function_to_apply,
        topK: parameters?.top_k,
      };
      return {
        body: classifications.map((one) => rank(model.about.labels, one, ranking)),
        inferences: classifications.map(({ inference }) => inference),
      };
    },
    describe: () => ({
      ...{ id, summary, headers: TRUNCATED_HEADER, errors: ERRORS },
      request: { name: 'HuggingFaceRequest', schema: classificationBody, example: EXAMPLE.request },
      answer: { name: 'HuggingFaceAnswer', schema: answer, example: EXAMPLE.answer },
    }),
  };
}
