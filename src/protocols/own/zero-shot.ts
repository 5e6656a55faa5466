import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { admissionErrorOf, requireModel } from '../../services/inference';
import { zeroShot as classifyZeroShot } from '../../services/zero-shot';
import { ServiceError } from '../../serving/errors';
import { isBlank } from '../../tasks/classification';
import type { ServedModel } from '../../tasks/served-model';
import { EMPTY_TEXT } from '../../tasks/text-classification/text-classification-task';
import type { ZeroShotClassifier } from '../../tasks/zero-shot/zero-shot-classifier';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { object, string } from '../validation/fields';
import { ZERO_SHOT_FIELDS } from '../validation/zero-shot-fields';

const request = object({ text: string(), ...ZERO_SHOT_FIELDS });

const response = z.object({
  input_text: z.string().describe('The text of the request'),
  labels: z.array(z.string()).describe('The candidate labels by descending score'),
  scores: z.array(z.number().describe('Rounded to four decimals')),
});
export type ZeroShotResponse = z.infer<typeof response>;

const examples = {
  request: { text: 'A warm, funny film.', candidate_labels: ['drama', 'comedy'] },
  response: {
    input_text: 'A warm, funny film.',
    labels: ['comedy', 'drama'],
    scores: [0.8512, 0.1488],
  },
};

/** POST /zero-shot: zero-shot classification of a text. */
export function zeroShot(
  served: ServedModel<ZeroShotClassifier>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/zero-shot',
    abilities: ['zero-shot'],
    operationId: 'zeroShot',
    summary: 'Zero-shot classification of a text',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const { text } = body;
      requireModel(served.model);
      if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', EMPTY_TEXT);
      const { predictions, inferences } = await classifyZeroShot(call, served, {
        texts: [text],
        labels: body.candidate_labels,
        template: body.hypothesis_template,
        isMultiLabel: body.multi_label,
        field: 'candidate_labels',
        listLength,
      });
      const [ranked = []] = predictions;
      return {
        body: {
          input_text: text,
          labels: ranked.map(({ label }) => label),
          scores: ranked.map(({ score }) => roundToFourDecimals(score)),
        } satisfies ZeroShotResponse,
        inferences,
      };
    },
  });
}
