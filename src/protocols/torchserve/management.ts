import { z } from 'zod';
import { ServiceError } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import type { VersionedRepository } from '../../tasks/model-repository';
import { currentVersion, type NamedModel, type ServedModel } from '../../tasks/served-model';
import type { Protocol } from '../protocol';
import { parseBody, type Route, route } from '../route';
import { describeModel } from '../v1-models';
import { expected, object, string } from '../validation/fields';
import { describeVersion, type ManagementOptions, modelDescription } from './description';
import {
  ERROR_SCHEMA,
  errors,
  invalidModel,
  isDefaultVersion,
  modelNotFound,
  versionNotFound,
} from './torchserve-errors';
import { type TorchServeModels, versionOf } from './torchserve-models';

const MODELS = '/models';
const MODEL = `${MODELS}/:model`;
const VERSION = `${MODEL}/:version`;

/** Bounds of the weight of a model, as in model.json. */
const MAX_WORKERS = 1000;
const MIN_WEIGHT = 0.001;

/** Maximum models per page of the list. */
const MAX_PAGE = 100;

const ACCEPTED = { status: 202, body: { status: 'Processing worker updates...' } };

const status = z.object({ status: z.string() });
/** Documentation that the status messages of several routes share. */
const STATUS = { response: status, schemaName: 'torchServeStatus', body: 'bytes' } as const;

/** The management API of TorchServe, on its own port. */
export function torchServeManagement(
  models: TorchServeModels,
  repository: VersionedRepository,
  options: ManagementOptions,
): Protocol {
  return {
    routes: [
      register(models, repository),
      ...[MODEL, VERSION].flatMap((path) => [
        scale(models, path, options),
        unregister(models, repository, path),
      ]),
      setDefault(models, repository),
      list(models),
      describeVersions(models, MODEL, options),
      describeVersions(models, VERSION, options),
      describeModel(models),
    ],
    prefix: '/',
    errors,
    probes: [],
    info: null,
    tag: { name: 'management', description: "TorchServe's management API." },
    error: ERROR_SCHEMA,
  };
}

const integer = () => z.coerce.number({ error: expected('a number') }).int();
const count = () => integer().min(0);
const flag = () => z.preprocess((value) => String(value).toLowerCase() === 'true', z.boolean());

/** Parameters in the query or in a JSON body. Other parameters of TorchServe are ignored. */
const registration = object({
  url: string().optional().describe('Name of the folder in the model repository'),
  model_name: string().optional().describe('Must be the name of the folder if set'),
  initial_workers: count().default(0),
  synchronous: flag(),
});

/** POST /models: loads the current content of a folder. */
function register(models: TorchServeModels, repository: VersionedRepository): Route {
  return route({
    ...STATUS,
    method: 'POST',
    path: MODELS,
    operationId: 'torchServeRegister',
    schemaName: 'torchServeRegister',
    summary: 'Load a folder of the model repository',
    request: registration,
    errors: ['NOT_FOUND', 'CONFLICT', 'MODEL_NOT_LOADED'],
    read: parametersOf,
    handler: async (call, { url, model_name, initial_workers: workers, synchronous }) => {
      if (url === undefined) {
        throw new ServiceError('REQUEST_INVALID', 'Parameter url is required.');
      }
      const name = await folderOf(repository, url);
      if (model_name !== undefined && model_name !== name) {
        const message = `model_name: expected "${name}", as the folder; others are aliases in its model.json`;
        throw new ServiceError('REQUEST_INVALID', message);
      }
      const before = servedVersions(models, name);
      const loading = repository.load(name);
      if (workers > 0 && !synchronous) {
        loading.catch(() => undefined); // the repository logs it, and the description of the model has it
        return ACCEPTED;
      }
      await loading.catch((error: Error) => {
        throw error instanceof ServiceError ? invalidModel(error.message) : error;
      });
      const version = models.find(name, call).versions.at(-1)?.version;
      const after = servedVersions(models, name);
      if (before.size === after.size && [...after].every((one) => before.has(one))) {
        const message = `Model version ${version} is already registered for model ${name}`;
        throw new ServiceError('CONFLICT', message);
      }
      const how =
        workers > 0
          ? `${workers} initial workers`
          : '0 initial workers. Use scale workers API to add workers for the model.';
      return { body: { status: `Model "${name}" Version: ${version} registered with ${how}` } };
    },
  });
}

const scaling = object({
  min_worker: count().max(MAX_WORKERS, `expected at most ${MAX_WORKERS}`).default(1),
  max_worker: count().optional(),
  synchronous: flag(),
});

/** PUT /models/{model}: sets the weight of a model. All models share the threads of the process. */
function scale(models: TorchServeModels, path: string, { scaled }: ManagementOptions): Route {
  return route({
    ...STATUS,
    method: 'PUT',
    path,
    operationId: path === MODEL ? 'torchServeScale' : 'torchServeScaleVersion',
    schemaName: 'torchServeScale',
    summary: 'Set the fair share of a model of the worker threads',
    request: scaling,
    errors: ['NOT_FOUND', 'MODEL_NOT_LOADED'],
    read: ({ query }) => Object.fromEntries(query),
    handler: (call, { min_worker: min, max_worker: max = min, synchronous }) => {
      if (max < min) {
        const message = 'max_worker cannot be less than min_worker.';
        throw new ServiceError('REQUEST_INVALID', message);
      }
      const { model, version } = findNamed(models, call);
      const served = versionOf(model, version ?? undefined)?.served;
      if (!served?.model) {
        throw new ServiceError('MODEL_NOT_LOADED', `Model "${model.name}" is not loaded.`);
      }
      served.model.setWeight(Math.max(min, MIN_WEIGHT));
      scaled.set(served, { min, max });
      if (!synchronous) return ACCEPTED;
      const ofVersion = version === null ? '' : `, version: ${version}`;
      const message = `Workers scaled to ${min} for model: ${model.name}${ofVersion}`;
      return { body: { status: message } };
    },
  });
}

/** PUT /models/{model}/{version}/set-default. */
function setDefault(models: TorchServeModels, repository: VersionedRepository): Route {
  return route({
    ...STATUS,
    method: 'PUT',
    path: `${VERSION}/set-default`,
    operationId: 'torchServeSetDefault',
    summary: 'Set the default version of a model',
    errors: ['NOT_FOUND'],
    handler: async (call) => {
      const { model, version } = findNamed(models, call);
      await repository.setDefault(model.name, version as string);
      const message = `Default version successfully updated for model "${model.name}" to "${version}"`;
      return { body: { status: message } };
    },
  });
}

/** DELETE /models/{model}: unloads a model when its accepted requests have ended. */
function unregister(
  models: TorchServeModels,
  repository: VersionedRepository,
  path: string,
): Route {
  return route({
    ...STATUS,
    method: 'DELETE',
    path,
    operationId: path === MODEL ? 'torchServeUnregister' : 'torchServeUnregisterVersion',
    summary: 'Unload a model when its accepted requests have ended; its folder is kept',
    errors: ['FORBIDDEN', 'NOT_FOUND'],
    handler: async (call) => {
      const { model, version } = findNamed(models, call);
      const isCurrent = version === null || version === currentVersion(model)?.version;
      if (isCurrent && model.versions.length > 1) throw isDefaultVersion(model);
      if (version === null || model.versions.length === 1) await repository.unload(model.name);
      else await repository.unloadVersion(model.name, version);
      return { body: { status: `Model "${model.name}" unregistered` } };
    },
  });
}

const paging = object({
  limit: integer().default(MAX_PAGE),
  next_page_token: integer().default(0),
});

/** GET /models: names of all models in pages. */
function list(models: TorchServeModels): Route {
  return route({
    method: 'GET',
    path: MODELS,
    operationId: 'torchServeModels',
    summary: 'All models, in pages',
    response: z.object({
      nextPageToken: z.string().optional(),
      models: z.array(z.object({ modelName: z.string(), modelUrl: z.string() })),
    }),
    errors: ['BODY_INVALID'],
    handler: ({ query }) => {
      const page = parseBody(paging, { body: Object.fromEntries(query) });
      const limit = page.limit < 0 ? MAX_PAGE : Math.min(page.limit, MAX_PAGE);
      const first = Math.max(0, page.next_page_token);
      const { all } = models;
      const last = first + limit;
      return {
        body: {
          ...(last <= all.length && { nextPageToken: String(last) }),
          models: all.slice(first, last).map(({ name }) => ({ modelName: name, modelUrl: name })),
        },
      };
    },
  });
}

/** GET /models/{model}: the current version; /models/{model}/{version}; /models/{model}/all: all versions. */
function describeVersions(
  models: TorchServeModels,
  path: string,
  options: ManagementOptions,
): Route {
  return route({
    method: 'GET',
    path,
    operationId: path === MODEL ? 'torchServeModel' : 'torchServeVersion',
    schemaName: 'torchServeModel',
    summary: 'Description and workers of a model',
    response: z.array(modelDescription),
    errors: ['NOT_FOUND'],
    handler: (call) => {
      const isAll = call.parameters.version === 'all';
      const { model, version } = findNamed(models, call, isAll);
      const current = currentVersion(model) ?? model.versions.at(-1);
      const found = version === null ? current : versionOf(model, version);
      const versions = isAll ? model.versions : found ? [found] : [];
      return { body: versions.map((one) => describeVersion(model, one, options)) };
    },
  });
}

/**
 * The model and the version that a path names.
 *
 * @param ignoresVersion true if the version parameter is not a version
 * @returns the version in its canonical form; null: no version is named
 * @throws ServiceError NOT_FOUND: the message lists the models or versions
 */
function findNamed(
  models: TorchServeModels,
  call: ServiceRequest,
  ignoresVersion = false,
): { readonly model: NamedModel; readonly version: string | null } {
  const { parameters, query } = call;
  const model = models.find(parameters.model ?? '', call);
  const version = parameters.version ?? query.get('model_version');
  if (ignoresVersion || version === null) return { model, version: null };
  const found = versionOf(model, version);
  if (!found) throw versionNotFound(version, model);
  return { model, version: found.version };
}

/** Name of a folder, which clients may write as `NAME.mar`, as in TorchServe. @throws ServiceError NOT_FOUND */
async function folderOf(repository: VersionedRepository, url: string): Promise<string> {
  const names = new Set((await repository.index()).map((entry) => entry.name));
  const name = [url, url.replace(/\.mar$/, '')].find((one) => names.has(one));
  if (name === undefined) throw modelNotFound(url, [...names]);
  return name;
}

function servedVersions({ all }: TorchServeModels, name: string): ReadonlySet<ServedModel> {
  const model = all.find((one) => one.name === name);
  return new Set(model?.versions.flatMap(({ served }) => served ?? []));
}

/** Parameters of the query or of a JSON body. @throws ServiceError BODY_INVALID */
function parametersOf(call: ServiceRequest): unknown {
  const isJson = /^application\/json\b/i.test(call.header('content-type') ?? '');
  return isJson ? parseJson(call.body) : Object.fromEntries(call.query);
}
