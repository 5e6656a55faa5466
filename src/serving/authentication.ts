import { Access, isUnlimited } from './access';
import { ServiceError } from './errors';
import type { RequestContext } from './request-context';
import type { ServerContext } from './server-context';

/** Whether GET, HEAD and OPTIONS of a path need no API key. */
export type IsPublic = (path: string) => boolean;

/**
 * Public paths: probes, the files of the pages (they ask the user for the key), and `/metrics` unless
 * METRICS_NEED_KEY is set.
 *
 * @param pages paths of the files of the pages
 * @param probes paths that supervisors and load balancers request without a key
 */
export function isPublicPath(
  pages: readonly string[],
  probes: readonly string[],
  { metricsNeedKey }: { readonly metricsNeedKey: boolean },
): IsPublic {
  const paths = new Set([...probes, ...pages, ...(metricsNeedKey ? [] : ['/metrics'])]);
  return (path) => paths.has(path);
}

/**
 * Checks the API key of a request and its scope, and sets `context.access`. Runs before routing: without a valid key
 * a client does not learn which paths, methods or models exist, and costs one hash.
 *
 * @param keyRequired error message for requests without a key
 * @returns KEY_NEEDED (401), FORBIDDEN (403), or null if the request is authorized
 */
export function authenticationError(
  { credentials: { keys }, namesOf }: ServerContext,
  context: RequestContext,
  keyRequired: string,
): ServiceError | null {
  if (keys === null || context.isPublic) return null;
  const key = context.apiKey();
  if (key === null) return new ServiceError('KEY_NEEDED', keyRequired);
  const grant = keys.find(key);
  if (grant === null) return new ServiceError('KEY_NEEDED', 'The API key is not known.');
  if (isUnlimited(grant)) return null;
  context.access = new Access(grant, namesOf);
  return context.resource && context.access.refusal(context.resource);
}
