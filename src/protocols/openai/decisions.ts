import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { decide } from '../../services/decide';
import { ModelResolver } from '../../services/model-resolver';
import type { QuestionResult } from '../../tasks/decision/results';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { exactBody, readJsonBody } from '../validation/decision-fields';
import { object, string } from '../validation/fields';
import { decisionInput, readInput } from './decision-input';
import { type OpenAiQuestion, openAiQuestions, readQuestion } from './decision-questions';
import { openAiProtocol } from './openai-protocol';

const request = object({
  model: string().describe('Name of a model'),
  input: decisionInput,
  questions: openAiQuestions,
  prompt_cache_key: string().nullish().describe('Ignored, as prompt_cache_options'),
  safety_identifier: string().nullish().describe('Ignored'),
});

const name = () => z.string().nullable().describe('Name of the question');
const probability = () => z.number().min(0).max(1).describe('Rounded to four decimals');
const confidence = () => probability().describe('0: equal probabilities. 1: certain');

const response = z.object({
  answers: z
    .array(
      z.union([
        z.object({ type: z.literal('predicate'), name: name(), probability: probability() }),
        z.object({
          type: z.literal('choice'),
          name: name(),
          choice: z.union([z.string(), z.boolean()]),
          confidence: confidence(),
          probabilities: z.array(
            z.object({ value: z.union([z.string(), z.boolean()]), probability: probability() }),
          ),
        }),
        z.object({
          type: z.literal('score'),
          name: name(),
          score: z.number().describe('Mean level, weighted with the probabilities'),
          confidence: confidence(),
          probabilities: z.array(
            z.object({ label: z.string(), probability: probability(), value: z.int() }),
          ),
        }),
      ]),
    )
    .describe('In the order of the questions'),
  model: z.string(),
  usage: z.object({
    input_tokens: z.int(),
    input_tokens_details: z.object({
      cached_tokens: z.literal(0),
      cache_write_tokens: z.literal(0),
    }),
    output_tokens: z.literal(0),
    output_tokens_details: z.object({ reasoning_tokens: z.literal(0) }),
    total_tokens: z.int(),
  }),
});

type Answer = z.infer<typeof response>['answers'][number];

const examples = {
  request: {
    model: 'nli',
    input: 'The parcel arrived broken.',
    questions: [
      { type: 'predicate', name: 'refund', instructions: 'The customer wants their money back.' },
    ],
  },
  response: {
    answers: [{ type: 'predicate', name: 'refund', probability: 0.6213 }],
    model: 'nli',
    usage: usageOf(18),
  },
};

/** OpenAI's decisions API for one model; null: the model does not answer questions. */
export function openAiDecisions(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'decision');
  return models && openAiDecisionsOf(models, options);
}

/** OpenAI's decisions API for all models that answer questions. */
export function openAiDecisionsOf(
  models: ModelResolver<'decision'>,
  options: ProtocolOptions,
): Protocol {
  return openAiProtocol([decisions(models, options)]);
}

/** POST /v1/decisions: typed questions about a text or messages. */
function decisions(models: ModelResolver<'decision'>, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/v1/decisions',
    abilities: ['decision'],
    operationId: 'openaiDecisions',
    summary: 'Answer typed questions about a text or messages',
    body: 'bytes',
    read: readJsonBody,
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: models.admissionError,
    handler: async (call, { model, questions }) => {
      const served = models.resolve(model, call);
      const body = await exactBody<{
        readonly input: unknown;
        readonly questions: readonly OpenAiQuestion[];
      }>(call);
      const { results, tokens, inferences } = await decide(call, served, {
        ...readInput(body.input),
        questions: body.questions.map(readQuestion),
        pathOf: (index) => `questions[${index}]`,
        listLength,
      });
      return {
        body: {
          answers: questions.map((question, index) =>
            toAnswer(question, results[index] as QuestionResult),
          ),
          model: served.title,
          usage: usageOf(tokens),
        } satisfies z.infer<typeof response>,
        inferences,
      };
    },
  });
}

function toAnswer(question: OpenAiQuestion, result: QuestionResult): Answer {
  const { name = null } = question;
  if (result.type === 'predicate') {
    return { type: 'predicate', name, probability: roundToFourDecimals(result.probability) };
  }
  const confidence = roundToFourDecimals(result.confidence);
  const rounded = result.probabilities.map(roundToFourDecimals);
  if (result.type === 'score') {
    const levels = question.type === 'score' ? question.levels : [];
    return {
      type: 'score',
      name,
      score: roundToFourDecimals(result.score),
      confidence,
      probabilities: levels.map(({ label }, value) => ({
        label,
        probability: rounded[value] as number,
        value,
      })),
    };
  }
  const values = question.type === 'choice' ? question.choices.map(({ value }) => value) : [];
  return {
    type: 'choice',
    name,
    choice: values[result.choice] as string | boolean,
    confidence,
    probabilities: values.map((value, index) => ({ value, probability: rounded[index] as number })),
  };
}

function usageOf(tokens: number): z.infer<typeof response>['usage'] {
  return {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens,
  };
}
