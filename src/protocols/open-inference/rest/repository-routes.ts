import { z } from 'zod';
import { parseJson } from '../../../serving/json';
import type { ServiceRequest } from '../../../serving/service-request';
import {
  listVisible,
  type Repository,
  type RepositoryEntry,
} from '../../../tasks/model-repository';
import { type Route, route } from '../../route';
import { boolean, object } from '../../validation/fields';

const INDEX = '/v2/repository/index';
/** Path prefix of the routes that load and unload models. */
export const REPOSITORY_MODELS = '/v2/repository/models/';
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

const text = z.string();
/** Triton accepts files and a configuration as parameters; this server ignores them. */
const changeBody = object({ parameters: object({}).loose().optional() }).loose();
const indexBody = object({ ready: boolean().optional() }).loose();
const indexAnswer = z.array(
  z.object({
    name: text,
    version: text.optional(),
    state: z.enum(['LOADING', 'READY', 'UNAVAILABLE', 'UNLOADING']),
    reason: text.optional().describe('Load error'),
  }),
);

/** Routes of the model repository extension of Triton. */
export function repositoryRoutes(repository: Repository): readonly Route[] {
  return [index(repository), load(repository), unload(repository)];
}

/** POST /v2/repository/index: lists models, loaded or not. */
function index(repository: Repository): Route {
  return route({
    method: 'POST',
    path: INDEX,
    body: 'bytes',
    operationId: 'V2RepositoryIndex',
    summary: 'List models, loaded or not',
    request: indexBody,
    read: jsonOf,
    response: indexAnswer,
    handler: async (call, { ready = false }) => {
      const entries = await listVisible(repository, ready, call.access);
      return { body: Buffer.from(JSON.stringify(entries.map(withoutEmpty))), headers: JSON_TYPE };
    },
  });
}

const CHANGE = {
  method: 'POST',
  body: 'bytes',
  schemaName: 'V2RepositoryChange',
  request: changeBody,
  read: jsonOf,
  response: z.object({}),
  errors: ['NOT_FOUND'],
} as const;

/** POST /v2/repository/models/NAME/load: loads the current files of a model folder. */
function load(repository: Repository): Route {
  return route({
    ...CHANGE,
    path: `${REPOSITORY_MODELS}:model/load`,
    operationId: 'V2RepositoryLoad',
    summary: 'Load the current files of a model folder',
    handler: async (call) => {
      await repository.load(call.parameters.model as string);
      return { body: {} };
    },
  });
}

/** POST /v2/repository/models/NAME/unload: unloads a model after its accepted requests. */
function unload(repository: Repository): Route {
  return route({
    ...CHANGE,
    path: `${REPOSITORY_MODELS}:model/unload`,
    operationId: 'V2RepositoryUnload',
    summary: 'Unload a model after its accepted requests',
    handler: async (call) => {
      await repository.unload(call.parameters.model as string);
      return { body: {} };
    },
  });
}

/** JSON of the body; clients send an empty body or any Content-Type. @throws ServiceError BODY_INVALID */
function jsonOf({ body }: ServiceRequest): unknown {
  const bytes = body as Buffer;
  return bytes.length === 0 ? {} : parseJson(bytes);
}

function withoutEmpty(entry: RepositoryEntry): object {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== ''));
}
