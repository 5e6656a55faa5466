import { z } from 'zod';
import { embed as embedTexts } from '../../services/embed';
import { requireListLength } from '../../services/inference';
import type { ModelResolver } from '../../services/model-resolver';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { dimensionCount, vectorsToJson } from '../validation/embedding-fields';
import {
  boolean,
  checked,
  findListProblem,
  findStringProblem,
  object,
  string,
} from '../validation/fields';
import { ANY_CONTENT_TYPE, modelName } from './ollama-fields';

const NANOSECONDS_PER_MS = 1e6;

const texts = checked(
  (value) =>
    value == null || typeof value === 'string'
      ? null
      : findListProblem(value, 'a string or an array of strings', findStringProblem),
  (value): readonly string[] => {
    if (value == null || value === '') return [];
    return typeof value === 'string' ? [value] : (value as readonly string[]);
  },
)
  .optional()
  .meta({
    description: 'A text, or a list of texts. Without a text, the response has no embeddings',
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  });

const embedRequest = object({
  model: modelName(),
  input: texts,
  truncate: boolean()
    .nullish()
    .describe('false: reject texts longer than the model allows. Default: truncate them'),
  dimensions: dimensionCount(),
});

const COMMON = {
  ...ANY_CONTENT_TYPE,
  errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
  headers: TRUNCATED_HEADER,
} as const;

/** POST /api/embed: embeds texts as vectors of length 1. */
export function embed(
  models: ModelResolver<'embedding'>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    method: 'POST',
    path: '/api/embed',
    abilities: ['embedding'],
    operationId: 'ollamaEmbed',
    summary: 'Embed texts',
    request: embedRequest,
    response: z.object({
      model: z.string(),
      embeddings: z.array(z.array(z.number())),
      total_duration: z.int().describe('Time of the request in ns'),
      load_duration: z.int(),
      prompt_eval_count: z.int().describe('Number of tokens'),
    }),
    examples: {
      request: { model: 'all-MiniLM-L6-v2', input: ['A warm, funny film.'] },
      response: {
        model: 'all-MiniLM-L6-v2',
        embeddings: [[0.6123, -0.3312, 0.7179]],
        total_duration: 4_120_000,
        load_duration: 0,
        prompt_eval_count: 8,
      },
    },
    admissionError: models.admissionError,
    handler: async (call, { model, input = [], truncate, dimensions }) => {
      requireListLength(input, 'input', listLength);
      const served = models.resolve(model, call);
      const { vectors, inferences } = await embedTexts(call, served, {
        elements: input,
        encoding: truncate === false ? { truncation: 'do_not_truncate' } : {},
        field: 'input',
        dimensions,
        normalize: true,
        responseLimit,
      });
      const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
      const rest = JSON.stringify({
        model,
        total_duration: Math.round((performance.now() - call.startedAt) * NANOSECONDS_PER_MS),
        load_duration: 0,
        prompt_eval_count: tokens,
      }).slice(0, -1);
      const rows = jsonArray(await vectorsToJson(vectors));
      return { ...jsonResponse([`${rest},"embeddings":`, ...rows, '}']), inferences };
    },
  });
}

/** POST /api/embeddings: embeds one text, for older clients. */
export function embedPrompt(
  models: ModelResolver<'embedding'>,
  { responseLimit }: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    method: 'POST',
    path: '/api/embeddings',
    abilities: ['embedding'],
    operationId: 'ollamaEmbeddings',
    summary: 'Embed one text',
    request: object({ model: modelName(), prompt: string().nullish() }),
    response: z.object({ embedding: z.array(z.number()) }),
    examples: {
      request: { model: 'all-MiniLM-L6-v2', prompt: 'A warm, funny film.' },
      response: { embedding: [0.6123, -0.3312, 0.7179] },
    },
    admissionError: models.admissionError,
    handler: async (call, { model, prompt }) => {
      const served = models.resolve(model, call);
      const { vectors, inferences } = await embedTexts(call, served, {
        elements: prompt ? [prompt] : [],
        encoding: {},
        field: null,
        responseLimit,
      });
      const [row = '[]'] = await vectorsToJson(vectors);
      return { ...jsonResponse(['{"embedding":', row, '}']), inferences };
    },
  });
}
