import { z } from 'zod';
import { embeddingsToJson } from '../../native/addon';
import { embed } from '../../services/embed';
import { requireListLength } from '../../services/inference';
import type { ModelResolver } from '../../services/model-resolver';
import { jsonArray, jsonResponse, toBase64 } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { expected, object, string, textsOrIds } from '../validation/fields';

const request = object({
  input: textsOrIds,
  model: string().nullish().describe('Default: the default model'),
  encoding_format: z
    .enum(['float', 'base64'], { error: expected('"float" or "base64"') })
    .nullish()
    .describe('base64: little-endian float32. Default: float'),
  dimensions: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('Truncate embeddings to this number of dimensions'),
});

const response = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

const examples = {
  request: { model: 'all-MiniLM-L6-v2', input: 'A warm, funny film.', dimensions: 3 },
  response: {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.6123, -0.3312, 0.7179] }],
    model: 'all-MiniLM-L6-v2',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  },
} as const;

/** POST /v1/embeddings: embeds texts. */
export function embeddings(
  models: ModelResolver<'embedding'>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/v1/embeddings',
    operationId: 'openaiEmbeddings',
    summary: 'Embed texts',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: models.admissionError,
    handler: async (call, { input, model, encoding_format, dimensions }) => {
      const { elements, isList } = input;
      requireListLength(elements, 'input', listLength);
      const served = models.resolve(model, call);
      const { vectors, inferences } = await embed(call, served, {
        elements,
        encoding: {},
        field: isList ? 'input' : null,
        dimensions,
        responseLimit,
      });
      const values =
        encoding_format === 'base64'
          ? vectors.map((vector) => `"${toBase64(vector)}"`)
          : await embeddingsToJson(vectors);
      const data = values.map((value, index) =>
        Buffer.concat([
          Buffer.from(`{"object":"embedding","index":${index},"embedding":`),
          Buffer.from(value),
          Buffer.from('}'),
        ]),
      );
      const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
      const usage = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
      const end = `,"model":${JSON.stringify(served.name)},"usage":${usage}}`;
      return {
        ...jsonResponse(['{"object":"list","data":', ...jsonArray(data), end]),
        inferences,
      };
    },
  });
}
