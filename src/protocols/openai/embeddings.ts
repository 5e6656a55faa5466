import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { embed } from '../../services/embed';
import { embedChunks } from '../../services/embed-chunks';
import { requireListLength } from '../../services/inference';
import type { ModelResolver } from '../../services/model-resolver';
import type { EmbeddingMetadata } from '../../tasks/capabilities';
import type { PromptNames } from '../../tasks/embeddings';
import { VECTOR_DTYPES, type VectorDtype } from '../../tasks/vector-dtypes';
import { jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  dimensionCount,
  embeddingInput,
  encodeVectors,
  encodingFor,
  encodingForTask,
  requireVectorDtypes,
  vectorDtype,
  vectorsToJson,
  vectorToBase64,
} from '../validation/embedding-fields';
import {
  boolean,
  checked,
  type ElementProblem,
  expected,
  object,
  string,
} from '../validation/fields';

const ENCODING_FORMATS = [...VECTOR_DTYPES, 'base64'] as const;
const JINA_TYPES = ['float', 'base64', 'binary', 'ubinary'] as const;
type JinaType = (typeof JINA_TYPES)[number];

/** A type, or a list with one type. Null and undefined: the default. */
const embeddingType = checked(findJinaTypeProblem, (value): JinaType | null => {
  const [type = null] = Array.isArray(value) ? value : [value];
  return type;
})
  .optional()
  .meta({
    description: 'Number format of Jina, or a list with one format',
    anyOf: [
      { enum: [...JINA_TYPES] },
      { type: 'array', items: { enum: [...JINA_TYPES] }, minItems: 1, maxItems: 1 },
      { type: 'null' },
    ],
  });

const request = object({
  input: embeddingInput,
  model: string().nullish().describe('Default: the default model'),
  encoding_format: z
    .enum(ENCODING_FORMATS, { error: expected(`one of ${ENCODING_FORMATS.join(', ')}`) })
    .nullish()
    .describe(
      'base64: the bytes of the embedding; little-endian float32, or integers. Others: number format of Mixedbread. Default: float',
    ),
  encoding: vectorDtype().nullish().describe('Number format'),
  dimensions: dimensionCount(),
  output_dimension: dimensionCount().describe('`dimensions` of Voyage and Mistral'),
  output_dtype: vectorDtype().nullish().describe('Number format of Voyage and Mistral'),
  embedding_type: embeddingType,
  input_type: z
    .enum(['query', 'document'], { error: expected('"query", "document" or null') })
    .nullish()
    .describe(
      'Field of Voyage. Selects the task `retrieval.query` or `retrieval.passage` of the model, otherwise its prompt `query` or `document`, if it has such a task or prompt',
    ),
  task: string()
    .nullish()
    .describe(
      'Field of Jina: task of the model, as `tasks` of `GET /models/NAME/info` lists them, such as `retrieval.query`. Prepends the prompt of the task. If the model has no tasks, `retrieval.query`, `retrieval.passage`, `classification` and `separation` select its prompt `query`, `document`, `classification` or `clustering`',
    ),
  prompt_name: string()
    .nullish()
    .describe(
      'Field of Jina: name of a prompt of the model, prepended to each text instead of the prompt of `task` or `input_type`. Default: its default prompt',
    ),
  return_multivector: z
    .literal(false, {
      error:
        'is not supported by this route. Send the texts to POST /embed_all for token embeddings',
    })
    .nullish()
    .describe('Field of Jina. Only false: `POST /embed_all` returns token embeddings'),
  normalized: boolean().nullish().describe('false: embeddings as they are. Default: as the model'),
  truncation: boolean()
    .nullish()
    .describe(
      'false: reject texts longer than the model allows. Default: truncate them. Token IDs are never truncated',
    ),
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
      const names = promptNamesOf(body, metadata);
      const { dtype, field, isBase64 } = formatOf(body);
      requireVectorDtypes([dtype], body.normalized ?? metadata.normalizes, field, 'normalized');
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
      const encoded = encodeVectors(vectors, dtype);
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

/** Prompt and task of the model. `prompt_name` has precedence over the prompt of `task` or `input_type`. */
function promptNamesOf(
  {
    task,
    input_type,
    prompt_name,
  }: Pick<z.output<typeof request>, 'task' | 'input_type' | 'prompt_name'>,
  metadata: EmbeddingMetadata,
): PromptNames {
  const names =
    task == null ? encodingFor(input_type ?? null, metadata) : encodingForTask(task, metadata);
  return { ...names, ...(prompt_name != null && { promptName: prompt_name }) };
}

const FORMAT_FIELDS = ['output_dtype', 'encoding', 'embedding_type', 'encoding_format'] as const;

/** Number format, and the field that selects it: the first field with another value than base64. */
function formatOf(body: Pick<z.output<typeof request>, (typeof FORMAT_FIELDS)[number]>): {
  readonly dtype: VectorDtype;
  readonly field: string;
  readonly isBase64: boolean;
} {
  const isBase64 = body.encoding_format === 'base64' || body.embedding_type === 'base64';
  for (const field of FORMAT_FIELDS) {
    const dtype = body[field];
    if (dtype != null && dtype !== 'base64') return { dtype, field, isBase64 };
  }
  return { dtype: 'float', field: 'output_dtype', isBase64 };
}

function findJinaTypeProblem(value: unknown): ElementProblem | null {
  if (value === undefined || value === null) return null;
  const types: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (types.length > 1) {
    const problem = `expected one format, found ${types.length}`;
    return { message: `${problem}. POST /v2/embed returns several formats`, path: [] };
  }
  const isKnown = JINA_TYPES.some((type) => type === types[0]);
  return isKnown ? null : { message: `expected one of ${JINA_TYPES.join(', ')}`, path: [] };
}
