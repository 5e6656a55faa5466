import { z } from 'zod';
import { ServiceError } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import { currentVersion, type NamedModel } from '../../tasks/catalogue';
import type { VersionedRepository } from '../../tasks/repository';
import type { ServedModel } from '../../tasks/served';
import type { Protocol } from '../protocol';
import { parseBody, type Route } from '../route';
import { expected, object, string } from '../validation/fields';
import { describeVersion, type ManagementOptions, modelDescription } from './description';
import { type NamedModels, versionOf } from './models';
import {
  errorAnswer,
  errors,
  invalidModel,
  isDefaultVersion,
  modelNotFound,
  versionNotFound,
} from './torchserve-errors';
import { describeModel } from './v1-models';

const MODELS = '/models';
const MODEL = `${MODELS}/:model`;
const VERSION = `${MODEL}/:version`;

/** What a share may be, as in model.json. */
const MOST_WORKERS = 1000;
const LEAST_SHARE = 0.001;

/** Models in one answer of the list. */
const MOST_LISTED = 100;

const ACCEPTED = { status: 202, body: { status: 'Processing worker updates...' } };

const status = { name: 'TorchServeStatus', schema: z.object({ status: z.string() }) };
const nothing = { name: 'TorchServeNothing', schema: z.unknown() };

const FAILURES = {
  400: 'A parameter is not valid, or the model cannot be loaded: the message says why.',
  403: 'It is the version that answers, and there are others.',
  404: 'There is no such model, or no such version: the message lists what there is.',
  409: 'The model is registered as it is.',
  503: 'The model is not loaded.',
};

/** The management API of TorchServe, on a port of its own. */
export function torchServeManagement(
  models: NamedModels,
  repository: VersionedRepository,
  options: ManagementOptions,
): Protocol {
  const describe = describeModels(models, options);
  return {
    routes: [
      register(models, repository),
      ...[MODEL, VERSION].flatMap((path) => [
        scale(models, path, options),
        unregister(models, repository, path),
      ]),
      setDefault(models, repository),
      list(models),
      describe(MODEL, 'torchServeModel'),
      describe(VERSION, 'torchServeVersion'),
      describeModel(models),
    ],
    prefix: '/',
    errors,
    probes: [],
    info: null,
    tag: { name: 'management', description: "TorchServe's management API." },
    error: { name: 'TorchServeError', schema: errorAnswer },
  };
}

const count = () =>
  z.coerce
    .number({ error: expected('a number') })
    .int()
    .min(0);

/** In the query, or in a body of JSON. What else TorchServe takes has no meaning here. */
const registration = object({
  url: string().optional().describe('Name of the folder in the directory of models'),
  model_name: string().optional().describe('If any, the same'),
  initial_workers: count().default(0),
  synchronous: isTrue(),
});

/** POST /models: looks at a folder, as it is now. */
function register(models: NamedModels, repository: VersionedRepository): Route {
  return changing(MODELS, 'POST', {
    describe: () => ({
      id: 'torchServeRegister',
      summary: 'Load a folder of the directory of models',
      request: { name: 'TorchServeRegistration', schema: registration },
      answer: status,
      errors: FAILURES,
    }),
    handle: async (call) => {
      const asked = parseBody(registration, { body: parametersOf(call) });
      if (asked.url === undefined) {
        throw new ServiceError('REQUEST_INVALID', 'Parameter url is required.');
      }
      const name = await folderOf(repository, asked.url);
      if (asked.model_name !== undefined && asked.model_name !== name) {
        const message = `model_name: expected "${name}", as the folder; others are aliases in its model.json`;
        throw new ServiceError('REQUEST_INVALID', message);
      }
      const before = servedOf(models, name);
      const loading = repository.load(name);
      const workers = asked.initial_workers;
      if (workers > 0 && !asked.synchronous) {
        loading.catch(() => undefined); // it is logged, and in the description of the model
        return ACCEPTED;
      }
      await loading.catch((error: Error) => {
        throw error instanceof ServiceError ? invalidModel(error.message) : error;
      });
      const version = models.find(name, call).versions.at(-1)?.version;
      const after = servedOf(models, name);
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
  min_worker: count().max(MOST_WORKERS, `expected at most ${MOST_WORKERS}`).default(1),
  max_worker: count().optional(),
  synchronous: isTrue(),
});

/**
 * PUT /models/{model}: all models share the threads of the process, so it is the share of their time that a
 * model gets beside others that want it, too.
 */
function scale(models: NamedModels, path: string, { scaled }: ManagementOptions): Route {
  return changing(path, 'PUT', {
    describe: () => ({
      id: path === MODEL ? 'torchServeScale' : 'torchServeScaleVersion',
      summary: 'The share of the time of the threads, which all models have together',
      request: { name: 'TorchServeScaling', schema: scaling },
      answer: status,
      errors: { 400: FAILURES[400], 404: FAILURES[404], 503: FAILURES[503] },
    }),
    handle: (call) => {
      const asked = parseBody(scaling, { body: Object.fromEntries(call.query) });
      if ((asked.max_worker ?? asked.min_worker) < asked.min_worker) {
        const message = 'max_worker cannot be less than min_worker.';
        throw new ServiceError('REQUEST_INVALID', message);
      }
      const { model, version } = namedIn(models, call);
      const served = versionOf(model, version ?? undefined)?.served;
      if (!served?.model) {
        throw new ServiceError('MODEL_NOT_LOADED', `Model "${model.name}" is not loaded.`);
      }
      const { min_worker: min, max_worker: max = min } = asked;
      served.model.setShare(Math.max(min, LEAST_SHARE));
      scaled.set(served, { min, max });
      if (!asked.synchronous) return ACCEPTED;
      const ofVersion = version === null ? '' : `, version: ${version}`;
      const told = `Workers scaled to ${asked.min_worker} for model: ${model.name}${ofVersion}`;
      return { body: { status: told } };
    },
  });
}

/** PUT /models/{model}/{version}/set-default. */
function setDefault(models: NamedModels, repository: VersionedRepository): Route {
  return changing(`${VERSION}/set-default`, 'PUT', {
    describe: () => ({
      id: 'torchServeSetDefault',
      summary: 'The version that answers where none is named',
      request: nothing,
      answer: status,
      errors: { 404: FAILURES[404] },
    }),
    handle: async (call) => {
      const { model, version } = namedIn(models, call);
      await repository.setDefault(model.name, version as string);
      const told = `Default version successfully updated for model "${model.name}" to "${version}"`;
      return { body: { status: told } };
    },
  });
}

/** DELETE /models/{model}: answers what was accepted, and frees it. */
function unregister(models: NamedModels, repository: VersionedRepository, path: string): Route {
  return changing(path, 'DELETE', {
    describe: () => ({
      id: path === MODEL ? 'torchServeUnregister' : 'torchServeUnregisterVersion',
      summary: 'Answer what was accepted, and free it; the folder stays',
      request: nothing,
      answer: status,
      errors: { 403: FAILURES[403], 404: FAILURES[404] },
    }),
    handle: async (call) => {
      const { model, version } = namedIn(models, call);
      const isServing = version === null || version === currentVersion(model)?.version;
      if (isServing && model.versions.length > 1) throw isDefaultVersion(model);
      if (version === null || model.versions.length === 1) await repository.unload(model.name);
      else await repository.unloadVersion(model.name, version);
      return { body: { status: `Model "${model.name}" unregistered` } };
    },
  });
}

const paging = object({
  limit: z.coerce
    .number({ error: expected('a number') })
    .int()
    .default(MOST_LISTED),
  next_page_token: z.coerce
    .number({ error: expected('a number') })
    .int()
    .default(0),
});

/** GET /models, by name. */
function list(models: NamedModels): Route {
  const item = z.object({ modelName: z.string(), modelUrl: z.string() });
  const answer = z.object({ nextPageToken: z.string().optional(), models: z.array(item) });
  return {
    method: 'GET',
    path: MODELS,
    handle: ({ query }) => {
      const asked = parseBody(paging, { body: Object.fromEntries(query) });
      const limit = asked.limit < 0 ? MOST_LISTED : Math.min(asked.limit, MOST_LISTED);
      const first = Math.max(0, asked.next_page_token);
      const { all } = models;
      const last = first + limit;
      return {
        body: {
          ...(last <= all.length && { nextPageToken: String(last) }),
          models: all.slice(first, last).map(({ name }) => ({ modelName: name, modelUrl: name })),
        },
      };
    },
    describe: () => ({
      id: 'torchServeModels',
      summary: 'All models, in pages',
      answer: { name: 'TorchServeModels', schema: answer },
      errors: { 400: FAILURES[400] },
    }),
  };
}

/** GET /models/{model}, of the version that serves; /models/{model}/{version}; /models/{model}/all. */
function describeModels(
  models: NamedModels,
  options: ManagementOptions,
): (path: string, id: string) => Route {
  return (path, id) => ({
    method: 'GET',
    path,
    handle: (call) => {
      const isAll = call.parameters.version === 'all';
      const { model, version } = namedIn(models, call, isAll);
      const serving = currentVersion(model) ?? model.versions.at(-1);
      const wanted = version === null ? serving : versionOf(model, version);
      const versions = isAll ? model.versions : wanted ? [wanted] : [];
      return { body: versions.map((one) => describeVersion(model, one, options)) };
    },
    describe: () => ({
      id,
      summary: 'What a model is, and how it does',
      answer: { name: 'TorchServeModel', schema: z.array(modelDescription) },
      errors: { 404: FAILURES[404] },
    }),
  });
}

/** A route that changes something, or would. */
function changing(
  path: string,
  method: NonNullable<Route['method']>,
  route: Pick<Route, 'describe' | 'handle'>,
): Route {
  return { path, method, body: 'bytes', refusal: () => null, ...route };
}

/**
 * What a path names.
 *
 * @param isAll what stands for a version is none
 * @returns its version as it is written here; null: none is named
 * @throws ServiceError NOT_FOUND: it lists what there is
 */
function namedIn(
  models: NamedModels,
  call: ServiceRequest,
  isAll = false,
): { readonly model: NamedModel; readonly version: string | null } {
  const { parameters, query } = call;
  const model = models.find(parameters.model ?? '', call);
  const named = isAll ? undefined : (parameters.version ?? query.get('model_version') ?? undefined);
  if (named === undefined) return { model, version: null };
  const found = versionOf(model, named);
  if (!found) throw versionNotFound(named, model);
  return { model, version: found.version };
}

/** The folder that a client means: archives of TorchServe are named `NAME.mar`. @throws ServiceError NOT_FOUND */
async function folderOf(repository: VersionedRepository, url: string): Promise<string> {
  const names = new Set((await repository.index()).map((entry) => entry.name));
  const name = [url, url.replace(/\.mar$/, '')].find((one) => names.has(one));
  if (name === undefined) throw modelNotFound(url, [...names]);
  return name;
}

function servedOf({ all }: NamedModels, name: string): ReadonlySet<ServedModel> {
  const model = all.find((one) => one.name === name);
  return new Set(model?.versions.flatMap(({ served }) => served ?? []));
}

/** Of the query, or of a body of JSON. @throws ServiceError BODY_INVALID */
function parametersOf(call: ServiceRequest): unknown {
  const isJson = /^application\/json\b/i.test(call.header('content-type') ?? '');
  return isJson ? parseJson(call.body) : Object.fromEntries(call.query);
}

function isTrue() {
  return z.preprocess((value) => String(value).toLowerCase() === 'true', z.boolean());
}
