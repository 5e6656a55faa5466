import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TextInput } from '../../native/engine';
import { ERRORS, type ErrorCode, ServiceError } from '../../serving/errors';
import { toPair } from '../../tasks/reranking/cross-encoder';
import type { ServedModel } from '../../tasks/served';
import { ModelResolver } from '../model-resolver';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ErrorShape, Protocol, ProtocolOptions } from '../protocol';
import { modelName, RANKING_ERRORS, scoreOf, scorePairs, tokensOf } from '../ranking';
import { parseBody, type Route, requireListLength } from '../route';
import { boolean, checked, findListProblem, object } from '../validation/fields';

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
  model: modelName(),
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
export function vllm(served: ServedModel, surroundings: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'scores pairs');
  return rerankers && vllmOf(rerankers, surroundings);
}

/** The same of all models that can be named. */
export function vllmOf(
  rerankers: ModelResolver<'scores pairs'>,
  surroundings: ProtocolOptions,
): Protocol {
  return {
    routes: ['/score', '/v1/score'].map((path) => score(path, rerankers, surroundings)),
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'vLLM', description: 'Scores of pairs as vLLM has them.' },
    error: { name: 'VllmError', schema: errorAnswer },
  };
}

function score(
  path: string,
  rerankers: ModelResolver<'scores pairs'>,
  { listLength }: ProtocolOptions,
): Route {
  return {
    method: 'POST',
    path,
    refusal: rerankers.refusal,
    handle: async (call) => {
      const asked = parseBody(body, call);
      const { pairs, field } = pairsOf(asked);
      requireListLength(pairs, field, listLength);
      const served = rerankers.resolve(asked.model, call);
      const { model, title } = served;
      const { answers, inferences } = await scorePairs(
        model,
        pairs,
        call.inferOptions(served),
        field,
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

/**
 * One text with each of several, or as many with as many.
 *
 * @returns also the name of the field that holds the second texts, as it was sent, for errors
 */
function pairsOf(asked: z.output<typeof body>): {
  readonly pairs: readonly TextInput[];
  readonly field: string;
} {
  const first = listOf(asked, 'text_1', 'queries');
  const second = listOf(asked, 'text_2', 'documents');
  const [one, many] = [first.texts.length, second.texts.length];
  if (one !== 1 && one !== many) {
    const expects = `expected one text, or as many as ${second.field} has: ${many}, found ${one}`;
    throw new ServiceError('BODY_INVALID', `${first.field}: ${expects}`);
  }
  const pairs = second.texts.map((text, index) =>
    toPair(first.texts[one === 1 ? 0 : index] as string, text),
  );
  return { pairs, field: second.field };
}

type TextField = 'text_1' | 'text_2' | 'queries' | 'documents';

/** Texts by either name of a field; if none was sent, the error names the first. */
function listOf(
  asked: z.output<typeof body>,
  name: TextField,
  newerName: TextField,
): { readonly texts: readonly string[]; readonly field: TextField } {
  const field = asked[name] === undefined && asked[newerName] !== undefined ? newerName : name;
  const given = asked[field];
  if (given === undefined) throw new ServiceError('BODY_INVALID', `${field}: is required`);
  const texts = typeof given === 'string' ? [given] : given;
  if (texts.length > 0) return { texts, field };
  throw new ServiceError('BODY_INVALID', `${field}: expected at least one text`);
}
