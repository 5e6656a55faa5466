import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Encoding, embed as embedTexts } from '../../services/embed';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import type { ServedModel } from '../../tasks/served-model';
import { VECTOR_DTYPES, type VectorDtype } from '../../tasks/vector-dtypes';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  dimensionCount,
  encodeVectors,
  encodingFor,
  requireVectorDtypes,
  type TextRole,
  vectorsToJson,
  vectorToBase64,
} from '../validation/embedding-fields';
import { checked, expected, findListProblem, object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import { cohereProtocol } from './cohere-format';
import { TEXT_FIELDS, textsOf } from './embed-texts';

const EMBEDDING_TYPES = [...VECTOR_DTYPES, 'base64'] as const;
type EmbeddingType = (typeof EMBEDDING_TYPES)[number];

const INPUT_TYPES: Readonly<Record<string, TextRole>> = {
  search_query: 'query',
  search_document: 'document',
  classification: 'classification',
  clustering: 'clustering',
};

const TRUNCATIONS: Readonly<Record<string, Pick<Encoding, 'truncation' | 'truncationSide'>>> = {
  NONE: { truncation: 'do_not_truncate' },
  START: { truncationSide: 'left' },
  END: { truncationSide: 'right' },
};

const isType = (value: unknown): value is EmbeddingType =>
  EMBEDDING_TYPES.includes(value as EmbeddingType);

const embeddingTypes = checked(
  (value) =>
    value === undefined || value === null
      ? null
      : findListProblem(value, 'an array of embedding types', (type) =>
          isType(type)
            ? null
            : { message: `expected one of ${EMBEDDING_TYPES.join(', ')}`, path: [] },
        ),
  (value) => (value ?? null) as readonly EmbeddingType[] | null,
)
  .optional()
  .meta({
    description: 'Formats of the embeddings in the response. Default: float',
    type: 'array',
    items: { enum: [...EMBEDDING_TYPES] },
  });

/** A text token and two special tokens. */
const MIN_TOKENS = 3;

const names = (values: object) => Object.keys(values) as [string, ...string[]];

const request = object({
  model: modelName(),
  ...TEXT_FIELDS,
  input_type: z
    .enum(names(INPUT_TYPES), { error: expected(`one of ${names(INPUT_TYPES).join(', ')}`) })
    .nullish()
    .describe(
      'Selects the task `retrieval.query`, `retrieval.passage`, `classification` or `separation` of the model, otherwise its prompt `query`, `document`, `classification` or `clustering`, if it has such a task or prompt',
    ),
  embedding_types: embeddingTypes,
  truncate: z
    .enum(names(TRUNCATIONS), { error: expected(`one of ${names(TRUNCATIONS).join(', ')}`) })
    .nullish()
    .describe('NONE: reject texts longer than the model allows. Default: END'),
  output_dimension: dimensionCount(),
  max_tokens: z
    .int({ error: expected('a whole number') })
    .min(MIN_TOKENS, { error: `expected at least ${MIN_TOKENS}` })
    .nullish()
    .describe(
      'Maximum length of a text in tokens, including special tokens; `truncate` applies to longer texts. Default and maximum: the limit of the model',
    ),
});

const vectors = z.array(z.union([z.array(z.number()), z.string()]));

const response = z.object({
  id: z.string(),
  texts: z.array(z.string()).optional().describe('`texts` of the request'),
  embeddings: z.union([vectors, z.partialRecord(z.enum(EMBEDDING_TYPES), vectors)]),
  response_type: z.enum(['embeddings_by_type', 'embeddings_floats']),
  meta: z.object({
    api_version: z.object({ version: z.string() }),
    billed_units: z.object({ input_tokens: z.int() }),
  }),
});

const example = {
  id: '07734bd2-2473-4f07-94e1-0d9f0e6843cf',
  texts: ['A warm, funny film.'],
  embeddings: { float: [[0.6123, -0.3312, 0.7179]] },
  response_type: 'embeddings_by_type',
  meta: { api_version: { version: '2' }, billed_units: { input_tokens: 8 } },
} as const;

/** Embeddings with Cohere's API for one model; null: the model does not embed texts. */
export function cohereEmbed(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'embedding');
  return models && cohereEmbedOf(models, options);
}

/** Embeddings with Cohere's API for all models. */
export function cohereEmbedOf(
  models: ModelResolver<'embedding'>,
  options: ProtocolOptions,
): Protocol {
  return cohereProtocol(['1', '2'].map((version) => embed(models, version, options)));
}

/** POST /v1/embed and /v2/embed: embeds texts. */
function embed(
  models: ModelResolver<'embedding'>,
  version: string,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: `/v${version}/embed`,
    abilities: ['embedding'],
    operationId: `cohereEmbedV${version}`,
    summary: 'Embed texts',
    request,
    response,
    examples: {
      request: {
        model: 'any',
        texts: example.texts,
        input_type: 'search_query',
        embedding_types: ['float'],
      },
      response: { ...example, meta: { ...example.meta, api_version: { version } } },
    },
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
    headers: TRUNCATED_HEADER,
    admissionError: models.admissionError,
    handler: async (call, { model, input_type, embedding_types, truncate, ...body }) => {
      const { elements, field } = textsOf(body);
      requireListLength(elements, field, listLength);
      const served = models.resolve(model, call);
      const { metadata } = served.model;
      const types = [...new Set(embedding_types ?? [])];
      requireVectorDtypes(types.map(dtypeOf), metadata.normalizes, 'embedding_types', null);
      const { vectors, inferences } = await embedTexts(call, served, {
        elements,
        encoding: {
          ...encodingFor(INPUT_TYPES[input_type ?? ''] ?? null, metadata),
          ...TRUNCATIONS[truncate ?? 'END'],
          ...(body.max_tokens != null && {
            maxTokens: Math.min(body.max_tokens, served.model.maxLength),
          }),
        },
        field,
        dimensions: body.output_dimension,
        responseLimit: responseLimit / Math.max(types.length, 1),
      });
      // Without types, version 1 has a plain list of embeddings.
      const isList = version === '1' && types.length === 0;
      const members = await Promise.all(
        (types.length > 0 ? types : (['float'] as const)).map(async (type) => {
          const encoded = encodeVectors(vectors, dtypeOf(type));
          const rows =
            type === 'base64'
              ? encoded.map((vector) => `"${vectorToBase64(vector)}"`)
              : await vectorsToJson(encoded);
          return [isList ? '' : `"${type}":`, ...jsonArray(rows)];
        }),
      );
      const embeddings = members.flatMap((pieces, index) =>
        index > 0 ? [',', ...pieces] : pieces,
      );
      const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
      const rest = JSON.stringify({
        id: randomUUID(),
        ...(field === 'texts' && { texts: elements }),
        response_type: isList ? 'embeddings_floats' : 'embeddings_by_type',
        meta: { api_version: { version }, billed_units: { input_tokens: tokens } },
      }).slice(0, -1);
      const [open, close] = isList ? ['', ''] : ['{', '}'];
      const pieces = [`${rest},"embeddings":${open}`, ...embeddings, `${close}}`];
      return { ...jsonResponse(pieces), inferences };
    },
  });
}

function dtypeOf(type: EmbeddingType): VectorDtype {
  return type === 'base64' ? 'float' : type;
}
