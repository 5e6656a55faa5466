/** `http://any.host`: clients that treat the service as a proxy send it (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * Removes origin and fragment from a request target: `http://any.host/health?x#y` becomes `/health?x`. All later
 * code sees the same path, and no code parses a host name, which may be invalid.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const fragment = target.indexOf('#');
  const rest = (fragment < 0 ? target : target.slice(0, fragment)).replace(ORIGIN, '');
  if (rest === target) return target; // such as the * of OPTIONS
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Path of a URL in origin form, not decoded. */
export function pathOf({ url }: { readonly url: string }): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** Query of a URL in origin form. */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query < 0 ? '' : url.slice(query));
}
