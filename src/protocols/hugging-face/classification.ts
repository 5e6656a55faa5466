import type { ClassifiesTexts } from '../../tasks/abilities';
import { rank } from '../../tasks/text-classification/ranking';
import {
  type Endpoint,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import type { Surroundings } from '../protocol';
import { classificationBody } from './body';

/**
 * The text-classification task: for each text its labels by falling score. A list of lists for one
 * text, too: the clients of Hugging Face take the first of it. Any text will do, an empty one as well:
 * so it is with the pipelines of transformers.
 */
export function classification(
  path: string,
  classifier: ClassifiesTexts | null,
  { listLength }: Surroundings,
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
  };
}
