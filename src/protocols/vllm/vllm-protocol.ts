import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TextInput } from '../../native/engine';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import { scorePairs } from '../../services/rerank';
import { ERRORS, type ErrorCode, ServiceError } from '../../serving/errors';
import { toPair } from '../../tasks/reranking/cross-encoder';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, checked, findListProblem, findStringProblem, object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';

const texts = (description: string) =>
  checked(
    (value) =>
      value === undefined || typeof value === 'string'
        ? null
        : findListProblem(value, 'a string or an array of strings', findStringProblem),
    (value) => value as string | readonly string[] | undefined,
  )
    .optional()
    .meta({
      description,
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
    });

const request = object({
  model: modelName(),
  text_1: texts('A query, or a query for each document'),
  text_2: texts('A document, or a list of documents'),
  queries: texts('Name of text_1 in newer versions of vLLM'),
  documents: texts('Name of text_2 in newer versions of vLLM'),
  use_activation: boolean()
    .nullish()
    .describe('false: the outputs of the model without an activation'),
});

const response = z.object({
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

const examples = {
  request: { model: 'any', text_1: 'How long is it?', text_2: ['Two hours.', 'A marvel.'] },
  response: {
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

/** Error types of OpenAI's API by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  404: 'NotFoundError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

/** Error format of OpenAI's API, which vLLM uses. */
const errors: ErrorFormat = {
  status: statusOf,
  body: ({ code, message }): z.infer<typeof errorResponse> => {
    const status = statusOf(code);
    const type = TYPES[status] ?? TYPES[status < 500 ? 400 : 500] ?? '';
    return { error: { message, type, param: null, code: status } };
  },
};

const errorResponse = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.null(), code: z.int() }),
});

function statusOf(code: ErrorCode): number {
  return code === 'BODY_INVALID' || code === 'INPUT_TOO_LONG' ? 400 : ERRORS[code].http;
}

/** vLLM's score API for one model; null: the model is not a reranker. */
export function vllm(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const rerankers = ModelResolver.ofOne(served, 'reranking');
  return rerankers && vllmOf(rerankers, options);
}

/** vLLM's score API for all rerankers. */
export function vllmOf(rerankers: ModelResolver<'reranking'>, options: ProtocolOptions): Protocol {
  return vllmProtocol(['/score', '/v1/score'].map((path) => score(path, rerankers, options)));
}

export function vllmProtocol(routes: readonly Route[]): Protocol {
  return {
    routes,
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'vLLM', description: "Scores of text pairs with vLLM's API." },
    error: { name: 'VllmError', schema: errorResponse },
  };
}

/** POST /score and /v1/score: scores text pairs. */
function score(
  path: string,
  rerankers: ModelResolver<'reranking'>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path,
    abilities: ['reranking'],
    operationId: path === '/score' ? 'vllmScore' : 'vllmScoreV1',
    schemaName: 'vllmScore',
    summary: 'Score text pairs',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: rerankers.admissionError,
    handler: async (call, body) => {
      const { pairs, field } = pairsOf(body);
      requireListLength(pairs, field, listLength);
      const served = rerankers.resolve(body.model, call);
      const { scores, tokens, inferences } = await scorePairs(call, served, pairs, {
        activation: body.use_activation === false ? 'none' : 'model',
        field,
      });
      const result: z.infer<typeof response> = {
        id: `score-${randomUUID().replaceAll('-', '')}`,
        object: 'list',
        created: Math.floor(Date.now() / 1000),
        model: served.title,
        data: scores.map((score, index) => ({ index, object: 'score', score })),
        usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
      };
      return { body: result, inferences };
    },
  });
}

/**
 * Pairs of one query with each document, or of each query with its document.
 *
 * @returns also the name of the field with the documents, for errors
 */
function pairsOf(body: z.output<typeof request>): {
  readonly pairs: readonly TextInput[];
  readonly field: string;
} {
  const queries = textsOf(body, 'text_1', 'queries');
  const documents = textsOf(body, 'text_2', 'documents');
  const [queryCount, documentCount] = [queries.texts.length, documents.texts.length];
  if (queryCount !== 1 && queryCount !== documentCount) {
    const problem = `expected one text, or one for each of the ${documentCount} elements of ${documents.field}, found ${queryCount}`;
    throw new ServiceError('BODY_INVALID', `${queries.field}: ${problem}`);
  }
  const pairs = documents.texts.map((document, index) =>
    toPair(queries.texts[queryCount === 1 ? 0 : index] as string, document),
  );
  return { pairs, field: documents.field };
}

type TextField = 'text_1' | 'text_2' | 'queries' | 'documents';

/** Texts of a field with two names. If both are missing, the error names the older one. */
function textsOf(
  body: z.output<typeof request>,
  name: TextField,
  newerName: TextField,
): { readonly texts: readonly string[]; readonly field: TextField } {
  const field = body[name] === undefined && body[newerName] !== undefined ? newerName : name;
  const value = body[field];
  if (value === undefined) throw new ServiceError('BODY_INVALID', `${field}: is required`);
  const texts = typeof value === 'string' ? [value] : value;
  if (texts.length > 0) return { texts, field };
  throw new ServiceError('BODY_INVALID', `${field}: expected at least one text`);
}
