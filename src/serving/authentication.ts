import type { Context } from './context';
import { ServiceError } from './errors';
import type { Stage } from './exchange';

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
 * Refuses those who have no key before it is known whether there is such a path, such a method, room
 * in the queue or a body: a stranger learns nothing and costs a hash. These refusals wait behind all work.
 *
 * @param keyNeeded how a key is sent, for those who sent none
 */
export function authenticate({ credentials, scheduler }: Context, keyNeeded: string): Stage {
  const { keys } = credentials;
  return (exchange, next) => {
    const isPublic = !keys || exchange.isPublic;
    const key = isPublic ? null : exchange.key();
    if (isPublic || (key !== null && keys.has(key))) {
      exchange.welcome();
      next(exchange);
      return;
    }
    const detail = key === null ? keyNeeded : 'The API key is not known.';
    const error = new ServiceError('KEY_NEEDED', detail);
    scheduler.refuse(() => exchange.refuse(error, exchange.place));
  };
}
