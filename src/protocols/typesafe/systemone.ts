import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { decide } from '../../services/decide';
import type { ModelResolver } from '../../services/model-resolver';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Question } from '../../tasks/decision/questions';
import type { QuestionResult, ScoreResult } from '../../tasks/decision/results';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  exactBody,
  IMAGES_UNSUPPORTED,
  readJsonBody,
  TEXT_OR_JSON,
} from '../validation/decision-fields';
import { checked, object, string } from '../validation/fields';
import {
  readQuestions,
  type TypeSafeQuestion,
  type TypeSafeQuestions,
  typeSafeQuestions,
} from './questions';
import { readState, typeSafeState } from './state';

const request = object({
  model: string().describe('Name of a model'),
  state: typeSafeState,
  questions: typeSafeQuestions,
  assets: checked(
    (value) => (value == null ? null : { message: IMAGES_UNSUPPORTED, path: [] }),
    () => null,
  )
    .optional()
    .meta({ type: 'null', description: 'Images, which are not supported' }),
});

const probability = () => z.number().min(0).max(1).describe('Rounded to four decimals');
const action = () =>
  z
    .object({ act_probability: probability() })
    .optional()
    .describe('Probability that an agent should act on the answer, only of Laya models');
const confidence = () => probability().describe('0: equal probabilities. 1: certain');

const response = z.object({
  model: z.string(),
  answers: z
    .record(
      z.string(),
      z.union([
        z.object({ type: z.literal('noul'), noul: probability(), action: action() }),
        z.object({
          type: z.literal('choice'),
          choice: z.string(),
          confidence: confidence(),
          probabilities: z.record(z.string(), probability()),
          action: action(),
        }),
        z.object({
          type: z.literal('score'),
          score: z.number().describe('Mean level, weighted with the probabilities'),
          confidence: confidence(),
          legend: z
            .record(z.string(), z.unknown().meta(TEXT_OR_JSON))
            .describe('Descriptions by level. Empty: the level has none'),
          probabilities: z.record(z.string(), probability()).describe('By level'),
          action: action(),
        }),
      ]),
    )
    .describe('Answers by the IDs of the questions'),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.literal(0) }),
});

type Answer = z.infer<typeof response>['answers'][string];

const examples = {
  request: {
    model: 'nli',
    state: 'The parcel arrived broken.',
    questions: {
      refund: { type: 'noul', instructions: 'The customer wants their money back.' },
      topic: { type: 'choice', criteria: { delivery: 'It is about delivery.', price: null } },
    },
  },
  response: {
    model: 'nli',
    answers: {
      refund: { type: 'noul', noul: 0.6213 },
      topic: {
        type: 'choice',
        choice: 'delivery',
        confidence: 0.9428,
        probabilities: { delivery: 0.9714, price: 0.0286 },
      },
    },
    usage: { input_tokens: 42, output_tokens: 0 },
  },
};

/** POST /v1/systemone: typed questions about a state, for clients of TypeSafe. */
export function systemOne(
  models: ModelResolver<'decision'>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/v1/systemone',
    abilities: ['decision'],
    operationId: 'typesafeSystemone',
    summary: 'Answer typed questions about a text',
    body: 'bytes',
    read: readBody,
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: models.admissionError,
    handler: async (call, { model, questions: sent }) => {
      const served = models.resolve(model, call);
      const body = await exactBody<{
        readonly state: unknown;
        readonly questions: TypeSafeQuestions;
      }>(call);
      const questions = readQuestions(body.questions);
      const { results, tokens, inferences } = await decide(call, served, {
        ...readState(body.state),
        questions: questions.map(({ question }) => question),
        pathOf: (index) => `questions.${questions[index]?.id}`,
        listLength,
      });
      const answers = questions.map(
        ({ id, question }, index) =>
          [id, toAnswer(question, sent[id], results[index] as QuestionResult)] as const,
      );
      return {
        body: {
          model: served.title,
          answers: Object.fromEntries(answers),
          usage: { input_tokens: tokens, output_tokens: 0 },
        } satisfies z.infer<typeof response>,
        headers: { 'X-TypeSafe-Request-Id': call.requestId },
        inferences,
      };
    },
  });
}

/** @throws ServiceError */
function readBody(call: ServiceRequest): unknown {
  if (/^multipart\/form-data\s*(?:;|$)/i.test(call.header('content-type') ?? '')) {
    throw new ServiceError('BODY_INVALID', `assets: ${IMAGES_UNSUPPORTED}, as application/json`);
  }
  return readJsonBody(call);
}

/** @param sent the question with its descriptions as they are in the body */
function toAnswer(
  question: Question,
  sent: TypeSafeQuestion | undefined,
  result: QuestionResult,
): Answer {
  const { actProbability } = result;
  const action = actProbability !== undefined && {
    action: { act_probability: roundToFourDecimals(actProbability) },
  };
  if (result.type === 'predicate') {
    return { type: 'noul', noul: roundToFourDecimals(result.probability), ...action };
  }
  const confidence = roundToFourDecimals(result.confidence);
  const rounded = result.probabilities.map(roundToFourDecimals);
  if (result.type === 'choice' && question.type === 'choice') {
    const labels = question.options.map(({ label }) => label);
    const probabilities = byKey(labels, rounded);
    const choice = labels[result.choice] as string;
    return { type: 'choice', choice, confidence, probabilities, ...action };
  }
  const levels = sent?.type === 'score' ? sent.criteria : [];
  const keys = levels.map((_, level) => String(level));
  return {
    type: 'score',
    score: roundToFourDecimals((result as ScoreResult).score),
    confidence,
    legend: byKey(
      keys,
      levels.map((level) => level ?? ''),
    ),
    probabilities: byKey(keys, rounded),
    ...action,
  };
}

function byKey<Value>(keys: readonly string[], values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(keys.map((key, index) => [key, values[index] as Value]));
}
