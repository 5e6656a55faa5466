import { z } from 'zod';
import { type Access, EVERYTHING } from '../../serving/access';
import { listNames } from '../../tasks/catalogue';
import { DETAIL, modelBelow, type Protocol } from '../protocol';
import type { Route } from '../route';
import { health, ready } from './gets';
import { errorAnswer, serviceAnswer } from './schemas/answers';

const version = z.object({
  version: z.string(),
  state: z.enum(['loading', 'ready', 'failed', 'unloading']),
  reason: z.string().nullable().describe('Why it is not as its files are now'),
});

const model = z.object({
  name: z.string(),
  aliases: z.array(z.string()).describe('Other names that it answers to'),
  address: z.string().describe('Below it all routes of a service of this one model'),
  task: z.string().nullable(),
  default: z.boolean().describe('It answers where a request names no model'),
  required: z.boolean().describe('The process is ready only when it is'),
  serving: z.string().nullable().describe('The version that answers where none is named'),
  reason: z.string().nullable().describe('Why nothing of it can be asked'),
  versions: z.array(version),
});

const guard = z.object({
  loaded: z.boolean(),
  reason: z.string().nullable().describe('Why it is not as its file says'),
});

/** GET /info of a directory of models. */
const infoAnswer = z.object({
  service: z.literal('models'),
  models: z.array(model),
  guard: guard.nullable().describe('null: there is no file of one'),
  ...serviceAnswer,
});

export type ModelsInfo = z.infer<typeof infoAnswer>;

/** Below which each model has an address of its own. */
export const MODELS = '/models/';

/** What a directory of models tells of itself, as it is when it is asked. */
export interface ModelsState {
  /** @param access of whoever asks */
  readonly info: (access: Access) => ModelsInfo;
  readonly isAnyLoaded: () => boolean;
  /** For errors. */
  readonly names: (access: Access) => readonly string[];
}

/**
 * The routes of a directory of models that are no single model's: how it is, and those of its default
 * models.
 *
 * @param routes of the default models
 */
export function ownOfModels(state: ModelsState, routes: readonly Route[]): Protocol {
  return {
    routes: [...routes, health(state.isAnyLoaded), ready, info(state)],
    prefix: MODELS,
    resourceOf: (path) => modelBelow(MODELS, path),
    errors: {
      status: DETAIL.status,
      body: (error, access) =>
        error.code === 'NOT_FOUND'
          ? { detail: `There is no such path here: ${describeNames(state.names(access))}.` }
          : DETAIL.body(error, access),
    },
    probes: ['/health', '/ready'],
    info: null,
    tag: { name: 'analysis' },
    error: { name: 'Error', schema: errorAnswer },
  };
}

function describeNames(names: readonly string[]): string {
  return names.length === 0 ? 'no model is loaded' : `models are ${listNames(names)}`;
}

function info(state: ModelsState): Route {
  return {
    method: 'GET',
    path: '/info',
    handle: ({ access }) => ({ body: state.info(access) }),
    describe: () => ({
      id: 'info',
      tag: 'operation',
      summary: 'Models and limits',
      answer: { name: 'Info', schema: infoAnswer, example: state.info(EVERYTHING) },
      outcome: 'What is served, and within which limits.',
      errors: {},
    }),
  };
}
