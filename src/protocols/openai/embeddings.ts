import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { embed } from '../../services/embed';
import { embedChunks } from '../../services/embed-chunks';
import { requireListLength } from '../../services/inference';
import type { ModelResolver } from '../../services/model-resolver';
import { jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  dimensionCount,
  encodeVectors,
  encodingFor,
  encodingForTask,
  vectorDtype,
  vectorsToJson,
  vectorToBase64,
} from '../validation/embedding-fields';
import { boolean, expected, object, string, textsOrIds } from '../validation/fields';

const JINA_TYPES = ['float', 'base64', 'binary', 'ubinary'] as const;

const request = object({
  input: textsOrIds,
  model: string().nullish().describe('Default: the default model'),
  encoding_format: z
    .enum(['float', 'base64'], { error: expected('"float" or "base64"') })
    .nullish()
    .describe(
      'base64: the bytes of the embedding; little-endian float32, or integers. Default: float',
    ),
  dimensions: dimensionCount(),
  output_dimension: dimensionCount().describe('`dimensions` of Voyage and Mistral'),
  output_dtype: vectorDtype().nullish().describe('Number format of Voyage and Mistral'),
  embedding_type: z
    .enum(JINA_TYPES, { error: expected(`one of ${JINA_TYPES.join(', ')}`) })
    .nullish()
    .describe('Number format of Jina'),
  input_type: z
    .enum(['query', 'document'], { error: expected('"query", "document" or null') })
    .nullish()
    .describe(
      'Field of Voyage. Selects the task `retrieval.query` or `retrieval.passage` of the model, otherwise its prompt `query` or `document`, if it has such a task or prompt',
    ),
  task: string()
    .nullish()
    .describe(
      'Field of Jina: task of the model, as `tasks` of `GET /models/NAME/info` lists them, such as `retrieval.query`. Prepends the prompt of the task. If the model has no tasks, `retrieval.query` and `retrieval.passage` select its prompt `query` or `document`',
    ),
  normalized: boolean().nullish().describe('false: embeddings as they are. Default: as the model'),
  truncation: boolean()
    .nullish()
    .describe('false: reject texts longer than the model allows. Default: truncate them'),
  truncate: boolean().nullish().describe('`truncation` of Jina'),
  late_chunking: boolean()
    .nullish()
    .describe(
      'The model reads all texts of `input` as one text. Each embedding is the mean of the tokens of its text. Needs a model with mean pooling. Texts over the limit are rejected unless `truncate` is true',
    ),
});

const response = z.object({
  id: z.string(),
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.literal(0),
    total_tokens: z.int(),
  }),
});

const examples = {
  request: { model: 'all-MiniLM-L6-v2', input: 'A warm, funny film.', dimensions: 3 },
  response: {
    id: 'embd-07734bd2-2473-4f07-94e1-0d9f0e6843cf',
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.6123, -0.3312, 0.7179] }],
    model: 'all-MiniLM-L6-v2',
    usage: { prompt_tokens: 8, completion_tokens: 0, total_tokens: 8 },
  },
} as const;

/** POST /v1/embeddings: embeds texts, for clients of OpenAI, Jina, Voyage and Mistral. */
export function embeddings(
  models: ModelResolver<'embedding'>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/v1/embeddings',
    abilities: ['embedding'],
    operationId: 'openaiEmbeddings',
    summary: 'Embed texts',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: models.admissionError,
    handler: async (call, body) => {
      const { elements, isList } = body.input;
      requireListLength(elements, 'input', listLength);
      const served = models.resolve(body.model, call);
      const { metadata } = served.model;
      const { task, input_type } = body;
      const names =
        task == null ? encodingFor(input_type ?? null, metadata) : encodingForTask(task, metadata);
      const truncates = body.truncate ?? body.truncation;
      const vectorOptions = {
        elements,
        dimensions: body.dimensions ?? body.output_dimension,
        normalize: body.normalized,
        responseLimit,
      };
      const { vectors, inferences } = body.late_chunking
        ? await embedChunks(call, served, {
            ...vectorOptions,
            names,
            truncates: truncates ?? false,
            field: 'input',
          })
        : await embed(call, served, {
            ...vectorOptions,
            encoding: {
              ...names,
              ...(truncates === false && { truncation: 'do_not_truncate' }),
            },
            field: isList ? 'input' : null,
          });
      const { dtype, isBase64 } = formatOf(body);
      const normalizes = body.normalized ?? metadata.normalizes;
      const encoded = encodeVectors(vectors, dtype, { normalizes }, 'output_dtype');
      const values = isBase64
        ? encoded.map((vector) => `"${vectorToBase64(vector)}"`)
        : await vectorsToJson(encoded);
      const data = values.flatMap((value, index) => [
        `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":`,
        value,
        '}',
      ]);
      const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
      const usage = JSON.stringify({
        prompt_tokens: tokens,
        completion_tokens: 0,
        total_tokens: tokens,
      });
      const begin = `{"id":"embd-${randomUUID()}","object":"list","data":[`;
      const end = `],"model":${JSON.stringify(served.name)},"usage":${usage}}`;
      return { ...jsonResponse([begin, ...data, end]), inferences };
    },
  });
}

function formatOf({
  encoding_format,
  output_dtype,
  embedding_type,
}: Pick<z.output<typeof request>, 'encoding_format' | 'output_dtype' | 'embedding_type'>) {
  const isBase64 = encoding_format === 'base64' || embedding_type === 'base64';
  const jinaDtype = embedding_type === 'base64' ? null : embedding_type;
  return { dtype: output_dtype ?? jinaDtype ?? 'float', isBase64 };
}
