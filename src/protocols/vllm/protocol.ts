import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TextInput } from '../../native/engine';
import { ERRORS, type ErrorCode, ServiceError } from '../../serving/errors';
import type { ScoresPairs } from '../../tasks/abilities';
import { toPair } from '../../tasks/reranking/cross-encoder';
import { type Served, servedAs } from '../../tasks/served';
import { type Endpoint, parseBody, refusalOf, requireListLength, requireModel } from '../endpoint';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ErrorShape, Protocol, Surroundings } from '../protocol';
import { RANKING_ERRORS, scoreOf, scorePairs, tokensOf } from '../ranking';
import { boolean, checked, findListProblem, object, string } from '../validation/fields';

const ANY = 'a string or an array of strings';

const texts = (description: string) =>
  checked(
    (value) => {
      if (value === undefined || typeof value === 'string') return null;
      return findListProblem(value, ANY, (one) =>
        typeof one === 'string' ? null : { message: 'expected a string', path: [] },
      );
    },
    (value) => value as string | readonly string[] | undefined,
  )
    .optional()
    .meta({
      description,
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
    });

const body = object({
  model: string().nullish().describe('Is not looked at'),
  text_1: texts('A query, or one for each document'),
  text_2: texts('A document, or several'),
  queries: texts('The same as text_1, as newer versions call it'),
  documents: texts('The same as text_2'),
  use_activation: boolean().nullish().describe('False: the outputs of the model as they are'),
});

const answer = z.object({
  id: z.string(),
  object: z.literal('list'),
  created: z.int(),
  model: z.string(),
  data: z.array(z.object({ index: z.int(), object: z.literal('score'), score: z.number() })),
  usage: z.object({
    prompt_tokens: z.int(),
    total_tokens: z.int(),
    completion_tokens: z.literal(0),
  }),
});

const EXAMPLE = {
  request: { model: 'any', text_1: 'How long is it?', text_2: ['Two hours.', 'A marvel.'] },
  answer: {
    id: 'score-07734bd224734f0794e10d9f0e6843cf',
    object: 'list',
    created: 1767225600,
    model: 'reranker',
    data: [
      { index: 0, object: 'score', score: 0.9133 },
      { index: 1, object: 'score', score: 0.0402 },
    ],
    usage: { prompt_tokens: 21, total_tokens: 21, completion_tokens: 0 },
  },
};

const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  404: 'NotFoundError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

const statusOf = (code: ErrorCode): number =>
  code === 'BODY_INVALID' || code === 'INPUT_TOO_LONG' ? 400 : ERRORS[code].http;

/** As OpenAI's, and so vLLM's, clients know them. */
const errors: ErrorShape = {
  status: statusOf,
  body: ({ code, message }): z.infer<typeof errorAnswer> => {
    const status = statusOf(code);
    const type = TYPES[status] ?? TYPES[status < 500 ? 400 : 500] ?? '';
    return { error: { message, type, param: null, code: status } };
  },
};

const errorAnswer = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.null(),
    code: z.int(),
  }),
});

/** vLLM's POST /score. */
export function vllm(served: Served, surroundings: Surroundings): Protocol | null {
  const reranker = servedAs(served, 'scores pairs');
  if (!reranker) return null;
  return {
    endpoints: ['/score', '/v1/score'].map((path) => score(path, reranker, surroundings)),
    gets: {},
    prefix: null,
    errors,
    probes: [],
    info: null,
    tag: { name: 'vLLM', description: 'Scores of pairs as vLLM has them.' },
    error: { name: 'VllmError', schema: errorAnswer },
  };
}

function score(path: string, served: Served<ScoresPairs>, { listLength }: Surroundings): Endpoint {
  const { model: reranker, title } = served;
  return {
    path,
    refusal: refusalOf(reranker),
    handle: async (call) => {
      const asked = parseBody(body, call);
      const pairs = pairsOf(asked);
      requireListLength(pairs, 'text_2', listLength);
      const model = requireModel(reranker);
      const { answers, inferences } = await scorePairs(
        model,
        pairs,
        call.inferOptions(served),
        'text_2',
      );
      const isRaw = asked.use_activation === false;
      const data = answers.map((one, index) => ({
        index,
        object: 'score',
        score: isRaw ? one.inference.values[0] : scoreOf(one),
      }));
      const tokens = tokensOf(inferences);
      return {
        body: {
          id: `score-${randomUUID().replaceAll('-', '')}`,
          object: 'list',
          created: Math.floor(Date.now() / 1000),
          model: title,
          data,
          usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
        },
        inferences,
      };
    },
    describe: () => ({
      id: path === '/score' ? 'vllmScore' : 'vllmScoreV1',
      summary: 'How well texts belong together, in their order',
      headers: TRUNCATED_HEADER,
      request: { name: 'VllmScoreRequest', schema: body, example: EXAMPLE.request },
      answer: { name: 'VllmScoreAnswer', schema: answer, example: EXAMPLE.answer },
      errors: {
        ...Object.fromEntries(
          Object.entries(RANKING_ERRORS).filter(([status]) => status !== '422'),
        ),
        400: 'The body is not valid, or the model has several labels.',
      },
    }),
  };
}

/** One text with each of several, or as many with as many. */
function pairsOf(asked: z.output<typeof body>): readonly TextInput[] {
  const first = listOf(asked.text_1 ?? asked.queries, 'text_1');
  const second = listOf(asked.text_2 ?? asked.documents, 'text_2');
  if (first.length !== 1 && first.length !== second.length) {
    throw new ServiceError(
      'BODY_INVALID',
      `text_1: expected one text, or as many as text_2 has: ${second.length}, found ${first.length}`,
    );
  }
  return second.map((text, index) => toPair(first[first.length === 1 ? 0 : index] as string, text));
}

function listOf(given: string | readonly string[] | undefined, field: string): readonly string[] {
  if (given === undefined) throw new ServiceError('BODY_INVALID', `${field}: is required`);
  const list = typeof given === 'string' ? [given] : given;
  if (list.length > 0) return list;
  throw new ServiceError('BODY_INVALID', `${field}: expected at least one text`);
}
