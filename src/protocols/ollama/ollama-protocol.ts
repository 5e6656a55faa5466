import { createHash } from 'node:crypto';
import { z } from 'zod';
import { embed as embedTexts } from '../../services/embed';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import { ERRORS } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Capabilities } from '../../tasks/capabilities';
import {
  type Catalogue,
  currentVersion,
  type NamedModel,
  type ServedModel,
  singleModelCatalogue,
  withCapability,
} from '../../tasks/served-model';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
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

const NANOSECONDS_PER_MS = 1e6;
/** Tag of listed models. */
const LATEST = ':latest';

const errors: ErrorFormat = {
  status: (code) => (code === 'BODY_INVALID' ? 400 : ERRORS[code].http),
  body: ({ message }) => ({ error: message }),
};

const modelName = () => string().describe('Name of a model; a tag `:latest` is ignored');

const texts = checked(
  (value) =>
    typeof value === 'string'
      ? null
      : findListProblem(value, 'a string or an array of strings', findStringProblem),
  (value) => (typeof value === 'string' ? [value] : (value as readonly string[])),
).meta({
  description: 'A text, or a list of texts',
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

const details = z.object({
  parent_model: z.string(),
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()),
  parameter_size: z.string(),
  quantization_level: z.string(),
});

const listedModel = z.object({
  name: z.string(),
  model: z.string(),
  modified_at: z.string().describe('Time at which the model was loaded'),
  size: z.int(),
  digest: z.string().describe('Hash of name and load time'),
  details,
});

/** Ollama's API for one model; null: the model does not embed texts. */
export function ollama(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'embedding');
  const catalogue = singleModelCatalogue(served);
  return models && ollamaOf(models, options, () => catalogue);
}

/** Ollama's API for all embedding models. */
export function ollamaOf(
  models: ModelResolver<'embedding'>,
  options: ProtocolOptions,
  catalogue: () => Catalogue,
): Protocol {
  return {
    routes: [
      embed(models, options),
      embedPrompt(models, options),
      listModels(catalogue),
      showModel(models),
      version(options),
    ],
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Ollama', description: "Embeddings with Ollama's API." },
    error: { name: 'OllamaError', schema: z.object({ error: z.string() }) },
  };
}

const COMMON = {
  errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG', 'NOT_FOUND'],
  headers: TRUNCATED_HEADER,
} as const;

/** POST /api/embed: embeds texts as vectors of length 1. */
function embed(
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
    handler: async (call, { model, input, truncate, dimensions }) => {
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
function embedPrompt(
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
    request: object({ model: modelName(), prompt: string() }),
    response: z.object({ embedding: z.array(z.number()) }),
    examples: {
      request: { model: 'all-MiniLM-L6-v2', prompt: 'A warm, funny film.' },
      response: { embedding: [0.6123, -0.3312, 0.7179] },
    },
    admissionError: models.admissionError,
    handler: async (call, { model, prompt }) => {
      const served = models.resolve(model, call);
      const { vectors, inferences } = await embedTexts(call, served, {
        elements: [prompt],
        encoding: {},
        field: null,
        responseLimit,
      });
      const [row = ''] = await vectorsToJson(vectors);
      return { ...jsonResponse(['{"embedding":', row, '}']), inferences };
    },
  });
}

/** GET /api/tags: all embedding models. */
function listModels(catalogue: () => Catalogue): Route {
  return route({
    method: 'GET',
    path: '/api/tags',
    operationId: 'ollamaTags',
    summary: 'Embedding models',
    response: z.object({ models: z.array(listedModel) }),
    handler: ({ access }) => {
      const models = catalogue()
        .filter(({ name }) => access.canSee(name))
        .flatMap((model) => describe(model) ?? []);
      return { body: { models } };
    },
  });
}

/** POST /api/show: describes a model. */
function showModel(models: ModelResolver<'embedding'>): Route {
  return route({
    method: 'POST',
    path: '/api/show',
    abilities: ['embedding'],
    operationId: 'ollamaShow',
    summary: 'Description of a model',
    request: object({
      model: string().optional(),
      name: string().optional().describe('`model` of older clients'),
    }),
    response: z.object({
      modelfile: z.string(),
      parameters: z.string(),
      template: z.string(),
      details,
      model_info: z.record(z.string(), z.union([z.string(), z.int()])),
      capabilities: z.array(z.literal('embedding')),
      modified_at: z.string(),
    }),
    examples: { request: { model: 'all-MiniLM-L6-v2' } },
    errors: ['NOT_FOUND', 'MODEL_NOT_LOADED'],
    read: ({ body }) => {
      const { model, name } = (body ?? {}) as { readonly model?: unknown; readonly name?: unknown };
      return model === undefined && name !== undefined
        ? { ...(body as object), model: name }
        : body;
    },
    handler: (call: ServiceRequest, { model }) => {
      const served = models.resolve(model, call);
      const { maxLength, metadata, loadedAt } = served.model as Capabilities['embedding'] & {
        readonly loadedAt: Date;
      };
      const architecture = 'encoder';
      return {
        body: {
          modelfile: '',
          parameters: '',
          template: '',
          details: DETAILS,
          model_info: {
            'general.architecture': architecture,
            [`${architecture}.embedding_length`]: metadata.dimensions,
            [`${architecture}.context_length`]: maxLength,
          },
          capabilities: ['embedding'],
          modified_at: loadedAt.toISOString(),
        },
      };
    },
  });
}

/** GET /api/version. */
function version(options: ProtocolOptions): Route {
  return route({
    method: 'GET',
    path: '/api/version',
    operationId: 'ollamaVersion',
    summary: 'Version of the server',
    response: z.object({ version: z.string() }),
    handler: () => ({ body: { version: options.version } }),
  });
}

const DETAILS: z.infer<typeof details> = {
  parent_model: '',
  format: 'safetensors',
  family: 'encoder',
  families: ['encoder'],
  parameter_size: '',
  quantization_level: '',
};

/** Entry of a loaded embedding model; null: the model is not loaded or does not embed texts. */
function describe({ name, ...model }: NamedModel): z.infer<typeof listedModel> | null {
  const served = currentVersion({ name, ...model })?.served;
  if (!served?.model || !withCapability(served, 'embedding')) return null;
  const modified_at = served.model.loadedAt.toISOString();
  const digest = createHash('sha256').update(`${name} ${modified_at}`).digest('hex');
  return {
    name: name + LATEST,
    model: name + LATEST,
    modified_at,
    size: 0,
    digest,
    details: DETAILS,
  };
}
