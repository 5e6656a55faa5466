import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { decide as decideQuestions } from '../../services/decide';
import { admissionErrorOf } from '../../services/inference';
import { type DecisionAnswer, toAnswer } from '../../tasks/decision/answers';
import { findTextProblem } from '../../tasks/decision/problems';
import { type QuestionInput, toQuestion } from '../../tasks/decision/question-input';
import type { DecisionModel } from '../../tasks/decision/questions';
import type { QuestionResult } from '../../tasks/decision/results';
import { textOf } from '../../tasks/decision/texts';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { exactBody, readJsonBody, TEXT_OR_JSON } from '../validation/decision-fields';
import { checked, expected, object } from '../validation/fields';
import { ownQuestions } from './decision-questions';

export type { QuestionInput, TextOrJson } from '../../tasks/decision/question-input';

const request = object({
  state: checked(findTextProblem, (value) => value).meta({
    ...TEXT_OR_JSON,
    description: 'Text, or JSON that the model reads as text',
  }),
  questions: ownQuestions,
  truncation_side: z
    .enum(['left', 'right'], { error: expected('"left" or "right"') })
    .nullish()
    .describe(
      'End of a long state that is removed. Default: left for an array, right for other states',
    ),
  long_states: z
    .enum(['truncate', 'windows'], { error: expected('"truncate" or "windows"') })
    .nullish()
    .describe(
      'States over the maximum length: truncate them, or read overlapping windows (Laya models). Default: truncate',
    ),
});

const name = () => z.string().nullable().describe('Name of the question');
const probability = () => z.number().min(0).max(1).describe('Rounded to four decimals');
const confidence = () => probability().describe('0: equal probabilities. 1: certain');
const properties = () => ({
  truncated: z.boolean().describe('Whether the state was truncated for this question'),
  window: z.int().min(0).optional().describe('Index of the window of a long state that decided'),
  act_probability: probability()
    .optional()
    .describe('Probability that an agent should act on the answer, only of Laya models'),
});

const response = z.object({
  answers: z
    .array(
      z.union([
        z.object({
          name: name(),
          type: z.literal('predicate'),
          probability: probability(),
          ...properties(),
        }),
        z.object({
          name: name(),
          type: z.literal('choice'),
          choice: z.string(),
          confidence: confidence(),
          probabilities: z
            .array(z.object({ label: z.string(), probability: probability() }))
            .describe('In the order of the options'),
          ...properties(),
        }),
        z.object({
          name: name(),
          type: z.literal('score'),
          score: z.number().describe('Mean level, weighted with the probabilities'),
          confidence: confidence(),
          probabilities: z.array(probability()).describe('From level 0'),
          ...properties(),
        }),
      ]),
    )
    .describe('In the order of the questions'),
});
/** Response of POST /decide; `response` is its schema. */
export interface DecideResponse {
  readonly answers: readonly DecisionAnswer[];
}

const examples = {
  request: {
    state: 'The parcel arrived broken.',
    questions: [
      { type: 'predicate', instructions: 'The customer wants their money back.' },
      { type: 'choice', name: 'topic', options: ['delivery', 'price'] },
    ],
  },
  response: {
    answers: [
      { name: null, type: 'predicate', probability: 0.6213, truncated: false },
      {
        name: 'topic',
        type: 'choice',
        choice: 'delivery',
        confidence: 0.9428,
        probabilities: [
          { label: 'delivery', probability: 0.9714 },
          { label: 'price', probability: 0.0286 },
        ],
        truncated: false,
      },
    ],
  },
};

/** POST /decide: typed questions about a text. */
export function decide(served: ServedModel<DecisionModel>, { listLength }: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/decide',
    abilities: ['decision'],
    operationId: 'decide',
    summary: 'Answer typed questions about a text',
    body: 'bytes',
    read: readJsonBody,
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { questions, truncation_side: side, long_states }) => {
      const body = await exactBody<{
        readonly state: unknown;
        readonly questions: readonly QuestionInput[];
      }>(call);
      const { results, inferences } = await decideQuestions(call, served, {
        state: textOf(body.state),
        truncationSide: side ?? (Array.isArray(body.state) ? 'left' : 'right'),
        questions: body.questions.map(toQuestion),
        inWindows: long_states === 'windows',
        pathOf: (index) => `questions[${index}]`,
        listLength,
      });
      const answers = questions.map((question, index) =>
        toAnswer(question, results[index] as QuestionResult, roundToFourDecimals),
      );
      return { body: { answers } satisfies DecideResponse, inferences };
    },
  });
}
