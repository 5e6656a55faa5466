import { Access, isUnlimited, type NamesOf } from './access';
import type { ApiKeys } from './credentials/api-keys';
import { ServiceError } from './errors';
import type { RequestContext, Stage } from './request-context';
import type { ServerContext } from './server-context';

/** Whether anybody may look (GET, HEAD, OPTIONS) there, since the answer is nobody's secret. */
export type IsPublic = (path: string) => boolean;

/**
 * Where nobody needs a key: the probes, the pages, which are files that anybody can have and ask for
 * the key themselves, and where it is chosen so the metrics.
 *
 * @param pages paths of their files
 * @param probes of protocols: supervisors and load balancers ask them, and hold no secrets
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
 * Refuses those who have no key, and those whose key is not for what their path is about, before it is known
 * whether there is such a path, such a method, room in the queue or a body: a stranger learns nothing and
 * costs a hash. These refusals wait behind all work.
 *
 * @param keyNeeded how a key is sent, for those who sent none
 */
export function authenticate(context: ServerContext, keyNeeded: string): Stage {
  const { credentials, scheduler, namesOf } = context;
  return (exchange, next) => {
    const { keys } = credentials;
    const isKeyNeeded = keys !== null && !exchange.isPublic;
    const problem = isKeyNeeded ? identify(exchange, { keys, keyNeeded, namesOf }) : null;
    if (problem) {
      scheduler.refuse(() => exchange.refuse(problem, exchange.routePath));
      return;
    }
    exchange.onAuthorized();
    next(exchange);
  };
}

interface Rules {
  readonly keys: ApiKeys;
  readonly keyNeeded: string;
  readonly namesOf: NamesOf;
}

/** Says what whoever asks may do. @returns why it is refused; null: it is not */
function identify(
  exchange: RequestContext,
  { keys, keyNeeded, namesOf }: Rules,
): ServiceError | null {
  const key = exchange.apiKey();
  if (key === null) return new ServiceError('KEY_NEEDED', keyNeeded);
  const grant = keys.find(key);
  if (grant === null) return new ServiceError('KEY_NEEDED', 'The API key is not known.');
  if (isUnlimited(grant)) return null;
  exchange.access = new Access(grant, namesOf);
  return exchange.resource && exchange.access.refusal(exchange.resource);
}
