import { z } from 'zod';
import { toSchema } from '../openapi/responses';
import type { Route } from '../route';

/** A body with these fields belongs to the route of the path; other bodies belong to the first other route. */
const BODIES: Readonly<Record<string, z.ZodType>> = {
  '/rerank': z.object({ query: z.unknown() }).required(),
  '/similarity': z.object({ inputs: z.object({ source_sentence: z.unknown() }).required() }),
};

/** POST /invocations, for SageMaker: accepts the bodies of all routes of a model. */
export function invocations(routes: readonly [Route, ...Route[]]): Route {
  const [first] = routes;
  const main = routes.find(({ path }) => !BODIES[path]) ?? first;
  const routeOf = (body: unknown): Route =>
    routes.find(({ path }) => BODIES[path]?.safeParse(body).success) ?? main;
  return {
    ...main,
    path: '/invocations',
    abilities: [...new Set(routes.flatMap(({ abilities = [] }) => abilities))],
    handle: (call) => routeOf(call.body).handle(call),
    operation: main.operation && {
      ...main.operation,
      operationId: 'teiInvocations',
      summary: 'Run the route whose fields the body has',
      description: `Accepts the bodies of ${routes.map(({ path }) => `\`${path}\``).join(', ')}.`,
      request: anyOf(routes, 'request'),
      response: anyOf(routes, 'response'),
      errors: [...new Set(routes.flatMap(errorsOf))],
    },
  };
}

function anyOf(routes: readonly Route[], body: 'request' | 'response') {
  return () => ({
    anyOf: routes.map(({ operation }) => toSchema(operation?.[body] as z.ZodType)),
  });
}

function errorsOf({ operation }: Route) {
  return ['BODY_INVALID', ...(operation?.errors ?? [])] as const;
}
