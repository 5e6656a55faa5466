import type { IsPublic } from './gate';

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
