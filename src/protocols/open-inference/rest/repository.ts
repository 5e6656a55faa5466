import { z } from 'zod';
import { parseJson } from '../../../serving/json';
import type { ServiceRequest } from '../../../serving/service-request';
import { indexOf, type Repository, type RepositoryEntry } from '../../../tasks/repository';
import { parseBody, type Route } from '../../route';
import { boolean, object } from '../../validation/fields';

const INDEX = '/v2/repository/index';
/** Below which models are loaded and unloaded. */
export const CHANGES = '/v2/repository/models/';
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

const text = z.string();
/** Of Triton's load: files and a configuration in place of those of the folder. Nothing of it is taken. */
const changeBody = object({ parameters: object({}).loose().optional() }).loose();
const indexBody = object({ ready: boolean().optional() }).loose();
const indexAnswer = z.array(
  z.object({
    name: text,
    version: text.optional(),
    state: z.enum(['LOADING', 'READY', 'UNAVAILABLE', 'UNLOADING']),
    reason: text.optional().describe('Why it is not ready'),
  }),
);

const ERRORS = {
  400: 'The model cannot be loaded, or is not: the error says why.',
  404: 'There is no such path.',
};

/** The routes that tell of the repository and change it. */
export function repositoryEndpoints(repository: Repository): readonly Route[] {
  const common = { refusal: () => null, body: 'bytes' } as const;
  const change = (what: 'load' | 'unload', summary: string): Route => ({
    method: 'POST',
    path: `${CHANGES}:model/${what}`,
    ...common,
    handle: async (call) => {
      parseBody(changeBody, { body: jsonOf(call) });
      await repository[what](call.parameters.model as string);
      return { body: {} };
    },
    describe: () => ({
      id: `V2Repository${what === 'load' ? 'Load' : 'Unload'}`,
      summary,
      request: { name: 'V2RepositoryChange', schema: changeBody },
      answer: { name: 'V2RepositoryChanged', schema: z.object({}) },
      errors: ERRORS,
    }),
  });
  return [
    {
      method: 'POST',
      path: INDEX,
      ...common,
      handle: async (call) => {
        const { ready = false } = parseBody(indexBody, { body: jsonOf(call) });
        const entries = await indexOf(repository, ready, call.access);
        return { body: Buffer.from(JSON.stringify(entries.map(withoutEmpty))), headers: JSON_TYPE };
      },
      describe: () => ({
        id: 'V2RepositoryIndex',
        summary: 'All models, loaded or not',
        request: { name: 'V2RepositoryIndexRequest', schema: indexBody },
        answer: { name: 'V2RepositoryIndex', schema: indexAnswer },
        errors: { 400: ERRORS[400] },
      }),
    },
    change('load', 'Look at its folder again: what is new takes over'),
    change('unload', 'Answer what was accepted, and free it'),
  ];
}

/** Clients send no body, or an empty object, of any type. @throws ServiceError BODY_INVALID */
function jsonOf({ body }: ServiceRequest): unknown {
  const bytes = body as Buffer;
  return bytes.length === 0 ? {} : parseJson(bytes);
}

function withoutEmpty(entry: RepositoryEntry): object {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== ''));
}
