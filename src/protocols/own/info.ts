import { z } from 'zod';
import type { Access } from '../../serving/access';
import type { SIGNAL_INFO } from '../../tasks/signal-classification/signal-classification-task';
import type { TEXT_INFO } from '../../tasks/text-classification/text-classification-task';
import { toSchema, withProperties } from '../openapi/responses';
import type { Protocol } from '../protocol';
import { type Route, route } from '../route';

const health = z.object({ status: z.literal('healthy'), model_loaded: z.boolean() });

const limits = {
  version: z.string().describe('Version of libtorch-serve'),
  limits: z.object({
    body_bytes: z.int().describe('Maximum size of a request body (413)'),
    response_bytes: z.int().describe('Maximum size of a response body (413)'),
    list_length: z.int().describe('Maximum length of a list (413)'),
    request_timeout_ms: z.int().describe('Maximum time until the model runs in ms (504)'),
  }),
};

const model = z.object({
  name: z.string(),
  version: z.string().nullable(),
  loaded: z.boolean(),
  reason: z.string().nullable().describe('Load error'),
  abilities: z
    .array(z.string())
    .optional()
    .describe('Abilities that requests may use, named as in model.json'),
  dtype: z.string().optional().describe('Number format of matrix multiplications'),
  products: z
    .object({
      linear: z.string().describe('Number format and kernel of linear layers'),
      attention: z.string().optional().describe('Number format and kernel of attention'),
      instructions: z.string().describe('Highest allowed instruction set (INSTRUCTION_SET)'),
    })
    .optional()
    .describe('Kernels in use: replicas with equal values return bitwise identical results'),
});

/** Response of GET /info of a service of one model. @param fields of `model` that depend on the task, once it is loaded */
function singleModelInfo<Service extends string, Fields extends z.ZodRawShape>(
  name: Service,
  fields: Fields,
) {
  return z.object({ service: z.literal(name), model: model.extend(fields), ...limits });
}

/** Response of GET /info of a model repository. */
const repositoryInfo = z.object({
  service: z.literal('models'),
  models: z.array(
    z.object({
      name: z.string(),
      aliases: z.array(z.string()).describe('Other names of the model'),
      address: z.string().describe('Path prefix of all routes of this model'),
      task: z.string().nullable(),
      default: z.boolean().describe('Whether it is the default model of its task'),
      required: z.boolean().describe('Whether readiness requires this model'),
      serving: z.string().nullable().describe('Current version; null: not loaded'),
      reason: z.string().nullable().describe('Load error'),
      versions: z.array(
        z.object({
          version: z.string(),
          state: z.enum(['loading', 'ready', 'failed', 'unloading']),
          reason: z.string().nullable().describe('Error of the last load'),
        }),
      ),
    }),
  ),
  guard: z
    .object({ loaded: z.boolean(), reason: z.string().nullable().describe('Load error') })
    .nullable()
    .describe('null: no guardrail policy'),
  ...limits,
});

type SingleModelInfo<Service extends string, Fields extends z.ZodRawShape> = z.infer<
  ReturnType<typeof singleModelInfo<Service, Fields>>
>;
export type HealthResponse = z.infer<typeof health>;
export type SentimentInfo = SingleModelInfo<'sentiment', typeof TEXT_INFO>;
export type EegInfo = SingleModelInfo<'eeg', typeof SIGNAL_INFO>;
/** Info of a service of one model, without fields of the task. */
export type ServiceInfo = SingleModelInfo<string, Record<never, never>>;
export type ModelsInfo = z.infer<typeof repositoryInfo>;

/** GET /health: liveness. It does not depend on the queue. */
export function healthRoute(isLoaded: () => boolean): Route {
  const body = (): HealthResponse => ({ status: 'healthy', model_loaded: isLoaded() });
  return route({
    method: 'GET',
    path: '/health',
    operationId: 'health',
    tag: 'operation',
    summary: 'Liveness probe',
    response: health,
    examples: { response: { status: 'healthy', model_loaded: true } },
    handler: () => ({ body: body() }),
  });
}

/** GET /ready: readiness. */
export const readyRoute = route({
  method: 'GET',
  path: '/ready',
  operationId: 'ready',
  tag: 'operation',
  summary: 'Readiness probe',
  response: z.object({ ready: z.literal(true) }),
  examples: { response: { ready: true } },
  errors: ['NOT_READY', 'DRAINING'],
  handler: ({ readiness }) => {
    const problem = readiness();
    if (problem) throw problem;
    return { body: { ready: true } };
  },
});

/**
 * GET /info of a service of one model.
 *
 * @param fields zod schemas of the fields of `model` that depend on the task
 * @param protocols may add fields; fields of the service take precedence
 */
export function singleModelInfoRoute(
  info: ServiceInfo,
  fields: z.ZodRawShape,
  protocols: readonly Protocol[],
): Route {
  const body = Object.assign({}, info, ...protocols.map((protocol) => protocol.info?.fields), info);
  const schemas = protocols.map((protocol) => protocol.info?.schemas);
  return route({
    ...INFO,
    summary: 'Model and limits',
    response: () =>
      withProperties(
        toSchema(singleModelInfo(info.service, fields)),
        Object.assign({}, ...schemas),
      ),
    examples: { response: info },
    handler: () => ({ body }),
  });
}

/** GET /info of a model repository. @param info its content for a client */
export function repositoryInfoRoute(info: (access: Access) => ModelsInfo): Route {
  return route({
    ...INFO,
    summary: 'Models and limits',
    response: repositoryInfo,
    handler: ({ access }) => ({ body: info(access) }),
  });
}

const INFO = { method: 'GET', path: '/info', operationId: 'info', tag: 'operation' } as const;
