import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../serving/errors';
import type { Moderation } from '../../tasks/guard/moderate';
import { CATEGORIES, type Category } from '../../tasks/guard/moderations';
import { requireLookedAt } from '../guard-reasons';
import type { Guarding } from '../guarding';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import type { Protocol, ProtocolOptions } from '../protocol';
import { parseBody, type Route, requireListLength } from '../route';
import { moderationsBody, partsOf } from './openai-body';
import { openAiProtocol } from './openai-protocol';

const MODEL = 'guard';
const OPENAI_MODELS = /^(?:omni|text)-moderation-[\w-]+$/;

const byCategory = <Schema extends z.ZodType>(schema: Schema) =>
  z.object(
    Object.fromEntries(CATEGORIES.map((name) => [name, schema])) as Record<Category, Schema>,
  );

const answer = z.object({
  id: z.string(),
  model: z.literal(MODEL),
  results: z.array(
    z.object({
      flagged: z.boolean().describe('Whether any category is'),
      categories: byCategory(z.boolean()),
      category_scores: byCategory(z.number()),
      category_applied_input_types: byCategory(z.array(z.literal('text'))),
    }),
  ),
});

type Result = z.infer<typeof answer>['results'][number];

const EXAMPLE = {
  request: { input: 'Awful, a terrible waste of time.' },
  answer: {
    id: 'modr-07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    model: MODEL,
    results: [
      resultOf({
        scores: { ...every(0), harassment: 0.9736 },
        flagged: { ...every(false), harassment: true },
      }),
    ],
  },
};

/** OpenAI's moderations by a guard. */
export function moderationsOf(guarding: Guarding, surroundings: ProtocolOptions): Protocol {
  return openAiProtocol([moderations(guarding, surroundings)]);
}

/** POST /v1/moderations */
function moderations(guarding: Guarding, { listLength }: ProtocolOptions): Route {
  return {
    method: 'POST',
    path: '/v1/moderations',
    refusal: guarding.refusal,
    handle: async (call) => {
      const { input, model } = parseBody(moderationsBody, call);
      requireGuard(model);
      const texts = partsOf(input);
      requireListLength(Array.isArray(input) ? input : [], 'input', listLength);
      const moderated = await guarding.moderate(call, texts);
      for (const one of moderated) requireLookedAt(one.answer);
      const body: z.infer<typeof answer> = {
        id: `modr-${randomUUID()}`,
        model: MODEL,
        results: moderated.map(resultOf),
      };
      return { body, inferences: moderated.flatMap((one) => one.answer.inferences) };
    },
    describe: () => ({
      id: 'openaiModerations',
      summary: 'Which categories texts are of, as the file of the guard maps them',
      request: { name: 'OpenAIModerations', schema: moderationsBody, example: EXAMPLE.request },
      answer: { name: 'OpenAIModerationsAnswer', schema: answer, example: EXAMPLE.answer },
      errors: {
        400: 'The body is not valid, the list is over MAX_LIST_LENGTH, or not all of a text was looked at.',
        404: 'The file of the guard has no "moderations", or `model` names another model.',
        413: 'The body is over BODY_LIMIT, or the response would be over RESPONSE_LIMIT.',
        415: ANALYSIS_ERRORS[415],
        503: 'The guard, or one of its models, is not loaded; or there is too much to do.',
        504: ANALYSIS_ERRORS[504],
      },
    }),
  };
}

/** The guard is the one model here. Clients send a name of OpenAI's, some without being told to. */
function requireGuard(name: string | null | undefined): void {
  if (!name || name === MODEL || OPENAI_MODELS.test(name)) return;
  const message = `There is no model "${name}" that moderates here: there is "${MODEL}".`;
  throw new ServiceError('NOT_FOUND', message);
}

function resultOf({ scores, flagged }: Pick<Moderation, 'scores' | 'flagged'>): Result {
  return {
    flagged: Object.values(flagged).some(Boolean),
    categories: { ...flagged },
    category_scores: { ...scores },
    category_applied_input_types: every(['text']),
  };
}

function every<Value>(value: Value): Record<Category, Value> {
  return Object.fromEntries(CATEGORIES.map((name) => [name, value])) as Record<Category, Value>;
}
