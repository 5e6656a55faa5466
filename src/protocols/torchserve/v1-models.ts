import { z } from 'zod';
import { currentVersion, type NamedModel, singleModelCatalogue } from '../../tasks/catalogue';
import type { ServedModel } from '../../tasks/served';
import type { LegacyOperation } from '../openapi/legacy-operation';
import type { Protocol } from '../protocol';
import type { Route } from '../route';
import { NamedModels } from './models';
import { errorAnswer, errors } from './torchserve-errors';

export const V1_MODELS = '/v1/models';
const OWNER = 'libtorch-serve';
const NOT_FOUND = 'There is no such model: the message lists the models.';

/** A model as OpenAI's API lists it. */
const openAiModel = {
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('When it was loaded, in seconds since 1970'),
  owned_by: z.literal(OWNER),
};
const EXAMPLE = { id: 'films', object: 'model', created: 1767225600, owned_by: OWNER } as const;

const list = z.object({
  object: z.literal('list'),
  data: z.array(z.object(openAiModel)).describe('Models that are loaded, for clients of OpenAI'),
  models: z.array(z.string()).describe('Names of all models, for clients of KServe'),
});
const model = z.object({
  ...openAiModel,
  name: z.string().describe('The same as `id`, for clients of KServe'),
  ready: z.boolean().describe('Whether it is loaded'),
});

/** GET /v1/models and /v1/models/NAME, which OpenAI's API and version 1 of KServe's protocol share. */
export function v1ModelRoutes(models: NamedModels): readonly Route[] {
  return [listModels(models), describeModel(models)];
}

/** The same, of one model. */
export function v1Models(served: ServedModel): Protocol {
  const catalogue = singleModelCatalogue(served);
  return {
    routes: v1ModelRoutes(new NamedModels(() => catalogue)),
    prefix: `${V1_MODELS}/`,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'models', description: 'Models as OpenAI and KServe list them.' },
    error: { name: 'TorchServeError', schema: errorAnswer },
  };
}

function listModels(models: NamedModels): Route {
  return {
    method: 'GET',
    path: V1_MODELS,
    handle: (call) => {
      const visible = models.allFor(call);
      const data = visible.filter(isReady).map((one) => describe(one, one.name));
      return { body: { object: 'list', data, models: visible.map(({ name }) => name) } };
    },
    describe: () => ({
      id: 'v1Models',
      summary: 'All models',
      errors: {},
      answer: {
        name: 'V1Models',
        schema: list,
        example: { object: 'list', data: [EXAMPLE], models: ['films'] },
      },
    }),
  };
}

/** What a model is, and whether it can be used. */
export function describeModel(models: NamedModels): Route {
  const described: LegacyOperation = {
    id: 'v1Model',
    summary: 'Whether a model is loaded',
    answer: {
      name: 'V1Model',
      schema: model,
      example: { ...EXAMPLE, name: 'films', ready: true },
    },
    errors: { 404: NOT_FOUND },
  };
  return {
    method: 'GET',
    path: `${V1_MODELS}/:model`,
    handle: (call) => {
      const { model: name = '' } = call.parameters;
      const named = models.find(name, call);
      return { body: { ...describe(named, name), name, ready: isReady(named) } };
    },
    describe: () => described,
  };
}

/** @param id the name that the client knows: one of several */
function describe(named: NamedModel, id: string) {
  const since = currentVersion(named)?.served?.model?.since.getTime() ?? performance.timeOrigin;
  return { id, object: 'model', created: Math.floor(since / 1000), owned_by: OWNER };
}

function isReady(named: NamedModel): boolean {
  return currentVersion(named) !== null;
}
