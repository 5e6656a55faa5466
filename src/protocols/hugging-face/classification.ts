import { z } from 'zod';
import type { ClassifiesTexts } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import { rank } from '../../tasks/text-classification/ranking';
import {
  type Endpoint,
  parseBody,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../endpoint';
import { ANALYSIS_ERRORS } from '../openapi/operation';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Surroundings } from '../protocol';
import { classificationBody } from './body';

const answer = z.array(z.array(z.object({ label: z.string(), score: z.number() })));

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  answer: [[{ label: 'POSITIVE', score: 0.9823 }]],
};

const ERRORS = { ...ANALYSIS_ERRORS, 400: 'The deadline is no number of milliseconds.' };

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
    refusal: refusalOf(classifier),
    handle: async (call) => {
      const { inputs, parameters } = parseBody(classificationBody, call);
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const model = requireModel(classifier);
      const field = isList ? 'inputs' : null;
      const { answers, inferences } = await runList(model, texts, call.inferOptions(), field);
      const ranking = {
        scoreFunction: parameters?.function_to_apply,
        topK: parameters?.top_k,
      };
      return { body: answers.map((one) => rank(model.about.labels, one, ranking)), inferences };
    },
    describe: () => ({
      ...{ id, summary, headers: TRUNCATED_HEADER, errors: ERRORS },
      request: { name: 'HuggingFaceRequest', schema: classificationBody, example: EXAMPLE.request },
      answer: { name: 'HuggingFaceAnswer', schema: answer, example: EXAMPLE.answer },
    }),
  };
}
