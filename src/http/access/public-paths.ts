import type { IsPublic } from './gate';

/** Supervisors and load balancers ask them, and hold no secrets. */
const PROBES = ['/health', '/ready'];

/**
 * Where nobody needs a key: the probes, the pages, which are files that anybody can have and ask for
 * the key themselves, and where it is chosen so the metrics.
 *
 * @param pages paths of their files
 * @param probes of protocols
 */
export function isPublicPath(
  pages: readonly string[],
  probes: readonly string[],
  { metricsNeedKey }: { readonly metricsNeedKey: boolean },
): IsPublic {
  const paths = new Set([...PROBES, ...probes, ...pages, ...(metricsNeedKey ? [] : ['/metrics'])]);
  return (path) => paths.has(path);
}
