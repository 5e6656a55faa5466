import { RETRY_AFTER, toSchema, withProperties } from '../openapi/responses';
import type { Protocol } from '../protocol';
import type { Route } from '../route';
import { healthAnswer, infoAnswer, readyAnswer, type ServiceInfo } from './schemas/answers';

const tag = 'operation';

/** GET /health. It waits for nothing, so it answers while the process responds at all. */
export function health(isLoaded: () => boolean): Route {
  const tell = () => ({ status: 'healthy', model_loaded: isLoaded() });
  return {
    method: 'GET',
    path: '/health',
    handle: () => ({ body: tell() }),
    describe: () => ({
      id: 'health',
      tag,
      summary: 'Whether the process responds',
      outcome: 'It does.',
      answer: { name: 'Health', schema: healthAnswer, example: tell() },
      errors: {},
    }),
  };
}

/** GET /ready: whether requests should be sent here. */
export const ready: Route = {
  method: 'GET',
  path: '/ready',
  handle: ({ readiness }) => {
    const problem = readiness();
    if (problem) throw problem;
    return { body: { ready: true } };
  },
  describe: () => ({
    id: 'ready',
    tag,
    summary: 'Whether requests should be sent here',
    answer: { name: 'Ready', schema: readyAnswer, example: { ready: true } },
    outcome: 'The model is loaded and warm.',
    errors: {
      503: {
        description:
          'The model is not loaded or has not come back, or the service is shutting down.',
        example: { detail: 'The service is shutting down.' },
        headers: RETRY_AFTER,
      },
    },
  }),
};

/**
 * GET /info: what is served, and within which limits. It changes with the model alone.
 *
 * @param fields of "model" that the task has, as schemas
 * @param others may have fields of their own there, beside those of the service
 */
export function info(
  own: ServiceInfo,
  fields: Parameters<typeof infoAnswer>[1],
  others: readonly Protocol[],
): Route {
  const body = Object.assign({}, own, ...others.map((protocol) => protocol.info?.fields), own);
  return {
    method: 'GET',
    path: '/info',
    handle: () => ({ body }),
    describe: () => {
      const schemas = others.map((protocol) => protocol.info?.schemas);
      const ofService = toSchema(infoAnswer(own.service, fields));
      const schema = withProperties(ofService, Object.assign({}, ...schemas));
      return {
        id: 'info',
        tag,
        summary: 'Model and limits',
        answer: { name: 'Info', schema, example: own },
        outcome: 'What is served, and within which limits.',
        errors: {},
      };
    },
  };
}
