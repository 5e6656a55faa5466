import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LATEST, type ModelResolver } from '../../services/model-resolver';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { EmbeddingMetadata } from '../../tasks/capabilities';
import { type Catalogue, currentVersion, withCapability } from '../../tasks/served-model';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { object, string } from '../validation/fields';
import { ANY_CONTENT_TYPE } from './ollama-fields';

/** Time at which models that stay loaded expire. */
const NEVER = '9999-12-31T23:59:59Z';

const details = z.object({
  parent_model: z.string(),
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()),
  parameter_size: z.string(),
  quantization_level: z.string(),
});

const modelFields = {
  name: z.string(),
  model: z.string(),
  size: z.int().describe('Size of the model files in bytes; 0: unknown'),
  digest: z.string().describe('Hash of name and load time'),
  details,
};

const listedModel = z.object({
  ...modelFields,
  modified_at: z.string().describe('Time at which the model was loaded'),
});

const runningModel = z.object({
  ...modelFields,
  expires_at: z.string().describe('Models do not expire'),
  size_vram: z.literal(0),
  context_length: z.int().describe('Maximum length of a text in tokens'),
});

/** GET /api/tags: all embedding models. */
export function listModels(catalogue: () => Catalogue): Route {
  return route({
    method: 'GET',
    path: '/api/tags',
    operationId: 'ollamaTags',
    summary: 'Embedding models',
    response: z.object({ models: z.array(listedModel) }),
    handler: (call) => {
      const models = visibleModels(catalogue(), call).map((each) => ({
        ...describe(each),
        modified_at: each.model.loadedAt.toISOString(),
      }));
      return { body: { models } };
    },
  });
}

/** GET /api/ps: all embedding models, which stay loaded. */
export function listRunning(catalogue: () => Catalogue): Route {
  return route({
    method: 'GET',
    path: '/api/ps',
    operationId: 'ollamaPs',
    summary: 'Embedding models in memory',
    response: z.object({ models: z.array(runningModel) }),
    handler: (call) => {
      const models = visibleModels(catalogue(), call).map((each) => ({
        ...describe(each),
        expires_at: NEVER,
        size_vram: 0,
        context_length: each.model.maxLength,
      }));
      return { body: { models } };
    },
  });
}

/** POST /api/show: describes a model. */
export function showModel(models: ModelResolver<'embedding'>): Route {
  return route({
    ...ANY_CONTENT_TYPE,
    method: 'POST',
    path: '/api/show',
    abilities: ['embedding'],
    operationId: 'ollamaShow',
    summary: 'Description of a model',
    request: object({
      model: string().nullish(),
      name: string().nullish().describe('`model` of older clients'),
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
    read: readNames,
    handler: (call: ServiceRequest, { model }) => {
      if (!model) throw new ServiceError('BODY_INVALID', 'model: is required');
      const { model: embedder } = models.resolve(model, call);
      const { maxLength, metadata } = embedder;
      const architecture = architectureOf(metadata);
      return {
        body: {
          modelfile: '',
          parameters: '',
          template: '',
          details: detailsOf(metadata),
          model_info: {
            'general.architecture': architecture,
            [`${architecture}.embedding_length`]: metadata.dimensions,
            [`${architecture}.context_length`]: maxLength,
          },
          capabilities: ['embedding'],
          modified_at: (embedder as typeof embedder & Loaded).loadedAt.toISOString(),
        },
      };
    },
  });
}

/** The body, with the model's name in `model`. */
function readNames(call: ServiceRequest): unknown {
  const body = ANY_CONTENT_TYPE.read(call);
  const { model, name } = (body ?? {}) as { readonly model?: unknown; readonly name?: unknown };
  return !model && name ? { ...(body as object), model: name } : body;
}

/** GET /api/version. */
export function version(options: ProtocolOptions): Route {
  return route({
    method: 'GET',
    path: '/api/version',
    operationId: 'ollamaVersion',
    summary: 'Version of the server',
    response: z.object({ version: z.string() }),
    handler: () => ({ body: { version: options.version } }),
  });
}

/** A loaded model. */
interface Loaded {
  readonly loadedAt: Date;
}

function architectureOf({ modelType }: EmbeddingMetadata): string {
  return modelType ?? 'encoder';
}

function detailsOf(metadata: EmbeddingMetadata): z.infer<typeof details> {
  const family = architectureOf(metadata);
  return {
    parent_model: '',
    format: 'safetensors',
    family,
    families: [family],
    parameter_size: '',
    quantization_level: '',
  };
}

/** Loaded embedding models that a client can see. */
function visibleModels(catalogue: Catalogue, { access }: ServiceRequest) {
  return catalogue
    .filter(({ name }) => access.canSee(name))
    .flatMap((named) => {
      const served = currentVersion(named)?.served;
      const model = served && withCapability(served, 'embedding')?.model;
      return model ? [{ name: named.name, model: model as typeof model & Loaded }] : [];
    });
}

/** Fields that the entries of both lists share. */
function describe({ name, model }: ReturnType<typeof visibleModels>[number]) {
  const { metadata, loadedAt } = model;
  const loaded = `${name} ${loadedAt.toISOString()}`;
  return {
    name: name + LATEST,
    model: name + LATEST,
    size: metadata.fileBytes ?? 0,
    digest: createHash('sha256').update(loaded).digest('hex'),
    details: detailsOf(metadata),
  };
}
