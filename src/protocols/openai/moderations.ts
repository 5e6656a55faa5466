import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type GuardService, requireChecked } from '../../services/guard';
import { requireListLength } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { Moderation } from '../../tasks/guard/moderate';
import { CATEGORIES, type Category } from '../../tasks/guard/moderations';
import type { Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { checked, type ElementProblem, expected, object, string } from '../validation/fields';
import { openAiProtocol } from './openai-protocol';

const MODEL = 'guard';
const OPENAI_MODELS = /^(?:omni|text)-moderation-[\w-]+$/;

/** A text, a list of texts, or one text in parts. */
type ModerationInput =
  | string
  | readonly string[]
  | readonly { readonly type: 'text'; readonly text: string }[];

const request = object({
  input: checked(findInputProblem, (value) => value as ModerationInput).meta({
    description: 'A text, a list of texts, or one text in parts. Images are not supported',
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['type', 'text'],
          properties: { type: { const: 'text' }, text: { type: 'string' } },
        },
      },
    ],
  }),
  model: string().nullish().describe('"guard", or a moderation model of OpenAI. Default: "guard"'),
});

const byCategory = <Schema extends z.ZodType>(schema: Schema) =>
  z.object(
    Object.fromEntries(CATEGORIES.map((name) => [name, schema])) as Record<Category, Schema>,
  );

const response = z.object({
  id: z.string(),
  model: z.literal(MODEL),
  results: z.array(
    z.object({
      flagged: z.boolean().describe('Whether any category is flagged'),
      categories: byCategory(z.boolean()),
      category_scores: byCategory(z.number()),
      category_applied_input_types: byCategory(z.array(z.literal('text'))),
    }),
  ),
});

type Result = z.infer<typeof response>['results'][number];

const examples = {
  request: { input: 'Awful, a terrible waste of time.' },
  response: {
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

/** OpenAI's moderations API, with the guardrail of a model repository. */
export function moderationsOf(guard: GuardService, options: ProtocolOptions): Protocol {
  return openAiProtocol([moderations(guard, options)]);
}

/** POST /v1/moderations: classifies texts by category. */
function moderations(guard: GuardService, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/v1/moderations',
    operationId: 'openaiModerations',
    summary: 'Classify texts by the categories of the guardrail policy',
    request,
    response,
    examples,
    errors: [
      'MODEL_NOT_LOADED',
      'NOT_FOUND',
      'LIST_TOO_LONG',
      'INPUT_TOO_LONG',
      'RESPONSE_TOO_LARGE',
      'QUEUE_FULL',
      'DEADLINE_EXCEEDED',
    ],
    admissionError: guard.admissionError,
    handler: async (call, { input, model }) => {
      requireGuard(model);
      const texts = partsOf(input);
      requireListLength(Array.isArray(input) ? input : [], 'input', listLength);
      const moderated = await guard.moderate(call, texts);
      for (const { result } of moderated) requireChecked(result);
      const body: z.infer<typeof response> = {
        id: `modr-${randomUUID()}`,
        model: MODEL,
        results: moderated.map(resultOf),
      };
      return { body, inferences: moderated.flatMap(({ result }) => result.inferences) };
    },
  });
}

/** The guardrail is the only model. Names of OpenAI's models also select it: some clients send them by default. */
function requireGuard(name: string | null | undefined): void {
  if (!name || name === MODEL || OPENAI_MODELS.test(name)) return;
  const message = `model: no model "${name}" supports moderations. Models: "${MODEL}"`;
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

/** The parts of each text. */
function partsOf(input: ModerationInput): readonly (readonly string[])[] {
  if (typeof input === 'string') return [[input]];
  const texts = input.map((one) => (typeof one === 'string' ? one : one.text));
  return typeof input[0] === 'string' ? texts.map((text) => [text]) : [texts];
}

function findInputProblem(value: unknown): ElementProblem | null {
  const what = 'a text, a list of texts or a list of parts';
  if (typeof value === 'string') return null;
  if (!Array.isArray(value)) return { message: expected(what)({ input: value }), path: [] };
  if (value.length === 0) return { message: 'cannot be an empty list', path: [] };
  const isOfTexts = typeof value[0] === 'string';
  for (const [index, one] of value.entries()) {
    const message = isOfTexts
      ? typeof one === 'string'
        ? null
        : 'expected a string'
      : findPartProblem(one);
    if (message !== null) return { message, path: [index] };
  }
  return null;
}

function findPartProblem(value: unknown): string | null {
  const { type, text } = (value ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  if (type === 'image_url') return 'images are not supported. Send texts only';
  return type === 'text' && typeof text === 'string'
    ? null
    : 'expected a text or {"type": "text", "text"}';
}
