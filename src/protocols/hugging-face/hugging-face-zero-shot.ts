import { z } from 'zod';
import type { EntailmentClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import type { LegacyOperation } from '../openapi/legacy-operation';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, requireModel } from '../route';
import { checked, expected, findListProblem, object } from '../validation/fields';
import { questionOf, runZeroShot, ZERO_SHOT_FIELDS } from '../zero-shot';

const ANY = 'a string or an array of strings';

const inputs = checked(
  (value) => {
    if (typeof value === 'string') return null;
    if (!Array.isArray(value)) return { message: expected(ANY)({ input: value }), path: [] };
    return findListProblem(value, ANY, (one) =>
      typeof one === 'string' ? null : { message: 'expected a string', path: [] },
    );
  },
  (value) => ({
    texts: (Array.isArray(value) ? value : [value]) as readonly string[],
    isList: Array.isArray(value),
  }),
).meta({
  description: 'A text, or a list of them',
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
});

const body = object({ inputs, parameters: object(ZERO_SHOT_FIELDS) });

const labels = z.array(z.object({ label: z.string(), score: z.number() }));
const answer = z.union([labels, z.array(labels)]);

/** Whether a body asks by labels of its own. */
function namesLabels(sent: unknown): boolean {
  const { parameters } = (sent ?? {}) as { readonly parameters?: unknown };
  return typeof parameters === 'object' && parameters !== null && 'candidate_labels' in parameters;
}

/**
 * The zero-shot-classification task on the path of another one, for bodies that name candidate labels: for a text
 * those labels by falling score, for a list of texts a list of that.
 */
export function withZeroShot(
  other: Omit<Route, 'path'>,
  served: ServedModel<EntailmentClassifier>,
  surroundings: ProtocolOptions,
): Omit<Route, 'path'> {
  const entailment = served.model;
  return {
    ...other,
    handle: async (call) => {
      if (!namesLabels(call.body)) return other.handle(call);
      const { inputs: given, parameters } = parseBody(body, call);
      const model = requireModel(entailment);
      const question = questionOf(given.texts, parameters);
      const { answers, inferences } = await runZeroShot(model, question, {
        options: call.inferOptions(served),
        field: 'parameters.candidate_labels',
        surroundings,
      });
      return { body: given.isList ? answers : (answers[0] as object), inferences };
    },
    describe: () => {
      const described = (other.describe as () => LegacyOperation)();
      const { request } = described;
      return {
        ...described,
        summary: 'Labels of a text, by falling score: of those that the request names, or its own',
        request: {
          name: 'HuggingFaceZeroShotRequest',
          schema: z.union([body, request?.schema as z.ZodType]),
          example: {
            inputs: 'A warm, funny film.',
            parameters: { candidate_labels: ['comedy', 'drama'] },
          },
        },
        answer: {
          name: 'HuggingFaceZeroShotAnswer',
          schema: z.union([answer, described.answer.schema as z.ZodType]),
          example: [
            { label: 'comedy', score: 0.8512 },
            { label: 'drama', score: 0.1488 },
          ],
        },
      };
    },
  };
}
