/** `http://any.host`, as a client writes it that takes the service for a proxy (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * A request target without an origin and a fragment: `http://any.host/health?x#y` is `/health?x`. So
 * that all who look at it see the same path, and nobody has to parse a host name, which may be invalid.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target; // nearly all are
  const fragment = target.indexOf('#');
  const rest = (fragment < 0 ? target : target.slice(0, fragment)).replace(ORIGIN, '');
  if (rest === target) return target; // such as the * of OPTIONS
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path of a request whose target is in origin form, as the router reads it. */
export function pathOf({ url }: { readonly url: string }): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** What follows it. */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query < 0 ? '' : url.slice(query));
}
