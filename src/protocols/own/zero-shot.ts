import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { EntailmentClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { EMPTY } from '../../tasks/text-classification/text-classification-task';
import { isBlank } from '../../tasks/text-classification/whitespace';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, refusalOf, requireModel } from '../route';
import { object, string } from '../validation/fields';
import { questionOf, runZeroShot, ZERO_SHOT_FIELDS } from '../zero-shot';
import { errorsOf } from './own-errors';
import { type ZeroShotAnswer, zeroShotAnswer } from './schemas/answers';

const body = object({ text: string(), ...ZERO_SHOT_FIELDS });

const EXAMPLE = {
  request: { text: 'A warm, funny film.', candidate_labels: ['drama', 'comedy'] },
  answer: {
    input_text: 'A warm, funny film.',
    labels: ['comedy', 'drama'],
    scores: [0.8512, 0.1488],
  },
};

/** POST /zero-shot: a text to labels that the request names. */
export function zeroShot(
  served: ServedModel<EntailmentClassifier>,
  surroundings: ProtocolOptions,
): Route {
  const entailment = served.model;
  return {
    method: 'POST',
    path: '/zero-shot',
    refusal: refusalOf(entailment),
    handle: async (call) => {
      const asked = parseBody(body, call);
      const model = requireModel(entailment);
      const { text } = asked;
      if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', EMPTY);
      const { answers, inferences } = await runZeroShot(model, questionOf([text], asked), {
        options: call.inferOptions(served),
        field: 'candidate_labels',
        surroundings,
      });
      const ranked = answers[0] ?? [];
      return {
        body: {
          input_text: text,
          labels: ranked.map(({ label }) => label),
          scores: ranked.map(({ score }) => roundToFourDecimals(score)),
        } satisfies ZeroShotAnswer,
        inferences,
      };
    },
    describe: () => ({
      id: 'zeroShot',
      summary: 'Labels that the request names, by falling score',
      headers: TRUNCATED_HEADER,
      request: { name: 'ZeroShotRequest', schema: body, example: EXAMPLE.request },
      answer: { name: 'ZeroShotAnswer', schema: zeroShotAnswer, example: EXAMPLE.answer },
      errors: errorsOf(EMPTY, 'text', surroundings),
    }),
  };
}
