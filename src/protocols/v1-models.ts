import { z } from 'zod';
import {
  currentVersion,
  type NamedModel,
  type ServedModel,
  singleModelCatalogue,
  withCapability,
} from '../tasks/served-model';
import { errorResponse as openAiError, errors as openAiErrors } from './openai/openai-protocol';
import { type ErrorFormat, modelBelow, type Protocol } from './protocol';
import { type Route, route } from './route';
import {
  errorResponse as torchServeError,
  errors as torchServeErrors,
} from './torchserve/torchserve-errors';
import { TorchServeModels } from './torchserve/torchserve-models';

const V1_MODELS = '/v1/models/';
const OWNER = 'libtorch-serve';
/** Header of TypeSafe's clients, whose `models` are objects. */
const TYPESAFE_HEADER = 'x-typesafe-sdk';

/** A model in the format of OpenAI's API. */
const openAiModel = {
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Time at which the model was loaded, in Unix seconds'),
  owned_by: z.literal(OWNER),
};
const typeSafeModel = {
  name: z.string(),
  description: z.string(),
  release_date: z.iso.date().describe('Day on which the model was loaded'),
};
const EXAMPLE = { id: 'films', object: 'model', created: 1767225600, owned_by: OWNER } as const;

/** Errors for clients of OpenAI, in `error`, and of TorchServe. */
const errorBody = torchServeError.extend(openAiError.shape);
const errors: ErrorFormat = {
  status: torchServeErrors.status,
  body: (error, access) => ({
    ...torchServeErrors.body(error, access),
    ...openAiErrors.body(error, access),
  }),
};

/** GET /v1/models and /v1/models/NAME, in the formats of OpenAI's API and of version 1 of KServe's protocol. */
export function v1ModelsOf(models: TorchServeModels): Protocol {
  return {
    routes: [listModels(models), describeModel(models)],
    prefix: V1_MODELS,
    resourceOf: (path) => modelBelow(V1_MODELS, path),
    errors,
    probes: [],
    info: null,
    tag: { name: 'models', description: 'Models in the OpenAI and KServe formats.' },
    error: { name: 'ModelsError', schema: errorBody },
  };
}

/** The protocol of `v1ModelsOf` for a single model. */
export function v1Models(served: ServedModel): Protocol {
  const catalogue = singleModelCatalogue(served);
  return { ...v1ModelsOf(new TorchServeModels(() => catalogue)), routesByBodyModel: true };
}

function listModels(models: TorchServeModels): Route {
  return route({
    method: 'GET',
    path: '/v1/models',
    operationId: 'v1Models',
    summary: 'All models',
    response: z.object({
      object: z.literal('list'),
      data: z.array(z.object(openAiModel)).describe('Loaded models, for OpenAI clients'),
      models: z
        .array(z.union([z.string(), z.object(typeSafeModel)]))
        .describe(
          'Names of all models, for KServe clients. With the header X-TypeSafe-SDK: objects of the loaded models that answer questions',
        ),
    }),
    examples: { response: { object: 'list', data: [EXAMPLE], models: ['films'] } },
    handler: (call) => {
      const visible = models.visible(call);
      const data = visible.filter(isReady).map((model) => describe(model, model.name));
      const isTypeSafe = call.header(TYPESAFE_HEADER) !== undefined;
      const list = isTypeSafe
        ? visible.flatMap(describeForTypeSafe)
        : visible.map(({ name }) => name);
      const headers = isTypeSafe ? { 'X-TypeSafe-Request-Id': call.requestId } : {};
      return { body: { object: 'list', data, models: list }, headers };
    },
  });
}

/** GET /v1/models/NAME. */
export function describeModel(models: TorchServeModels): Route {
  return route({
    method: 'GET',
    path: `${V1_MODELS}:model`,
    operationId: 'v1Model',
    summary: 'Description and readiness of a model',
    response: z.object({
      ...openAiModel,
      name: z.string().describe('Same as `id`, for KServe clients'),
      ready: z.boolean().describe('Whether the model is loaded'),
    }),
    examples: { response: { ...EXAMPLE, name: 'films', ready: true } },
    errors: ['NOT_FOUND'],
    handler: (call) => {
      const { model: name = '' } = call.parameters;
      const model = models.find(name, call);
      return { body: { ...describe(model, name), name, ready: isReady(model) } };
    },
  });
}

/** The model in the format of TypeSafe's API, if it is loaded and answers questions. */
function describeForTypeSafe(model: NamedModel) {
  const served = currentVersion(model)?.served;
  const loadedAt = served?.model?.loadedAt;
  if (!loadedAt || !withCapability(served, 'decision')) return [];
  const release_date = loadedAt.toISOString().slice(0, 10);
  return [{ name: model.name, description: served.title, release_date }];
}

/** @param id name of the model in the request, which may be an alias */
function describe(model: NamedModel, id: string) {
  const since = currentVersion(model)?.served?.model?.loadedAt.getTime() ?? performance.timeOrigin;
  return { id, object: 'model', created: Math.floor(since / 1000), owned_by: OWNER };
}

function isReady(model: NamedModel): boolean {
  return currentVersion(model) !== null;
}
