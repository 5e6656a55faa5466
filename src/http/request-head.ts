import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { RequestHandler } from 'express';
import { ServiceError } from '../serving/errors';

const MAX_HEADERS = 100;
/** `http://any.host`: clients that treat the service as a proxy send it (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/** Middleware: rejects requests with invalid headers, and requests of pages of other origins. */
export function checkHeaders(origins: OriginPolicy): RequestHandler {
  return (request, _response, next) => {
    const error = headersError(request) ?? origins.errorFor(request);
    if (error) throw error;
    next();
  };
}

/**
 * HTTP/1.1 requires exactly one Host header (RFC 9112, 3.2). Node's own check responds without a body, and accepts
 * several. Beyond 2,000 headers Node would drop the last ones: more than `MAX_HEADERS` are rejected.
 */
export function headersError(request: IncomingMessage): ServiceError | null {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return new ServiceError('HEADERS_TOO_LARGE', `There are over ${MAX_HEADERS} headers.`);
  }
  const hosts = countHosts(rawHeaders);
  if (hosts > 1) {
    const message = `Host: expected one header, received ${hosts}.`;
    return new ServiceError('REQUEST_INVALID', message);
  }
  if (hosts === 0 && request.httpVersion === '1.1') {
    return new ServiceError('REQUEST_INVALID', 'The Host header is missing.');
  }
  return null;
}

/** @param rawHeaders names and values, alternating */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Host header: name, IPv4 address or bracketed IPv6 address, then an optional port. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d*)?$/i;

const CROSS_SITE =
  'The request comes from a page of another origin. Add the origin of the page to CORS_ORIGINS.';

export interface OriginPolicyOptions {
  /** CORS_ORIGINS: origins whose pages may send every request; `['*']`: all. */
  readonly corsOrigins: readonly string[];
  /** ALLOWED_HOSTS: names of the service in lower case, in addition to those of this machine; `*`: all. */
  readonly allowedHosts: readonly string[];
  /** HOST or MANAGEMENT_HOST. */
  readonly hosts: readonly (string | undefined)[];
  /** API keys are set. Without them, a page could reach the service through DNS rebinding. */
  readonly isKeyNeeded: boolean;
}

/**
 * Protection against cross-site request forgery and DNS rebinding. Without CORS a browser hides the response from the
 * page, but still sends the request. Requests without `Origin` and `Sec-Fetch-Site` do not come from such a page.
 */
export class OriginPolicy {
  readonly #origins: ReadonlySet<string>;
  readonly #areAllAllowed: boolean;
  /** Host names of this service; null: every name is accepted. */
  readonly #names: ReadonlySet<string> | null;

  constructor({ corsOrigins, allowedHosts, hosts, isKeyNeeded }: OriginPolicyOptions) {
    this.#origins = new Set(corsOrigins);
    this.#areAllAllowed = corsOrigins[0] === '*';
    const own = ['localhost', hostname(), ...hosts.filter((host) => host !== undefined)];
    const names = [...own.map((name) => name.toLowerCase()), ...allowedHosts];
    this.#names = isKeyNeeded || allowedHosts.includes('*') ? null : new Set(names);
  }

  /**
   * @param isUpgrade the request opens a WebSocket, which a page can read whatever its origin
   * @returns FORBIDDEN, or null if the request is allowed
   */
  errorFor(
    { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
    isUpgrade = false,
  ): ServiceError | null {
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'];
    if (origin === undefined && site === undefined) return null;
    if (this.#areAllAllowed || (origin !== undefined && this.#origins.has(origin))) return null;
    // DNS rebinding: the browser takes a page for same-origin if the name of the page resolves to this machine.
    const foreign = this.#foreignName(host) ?? this.#foreignOrigin(origin, site);
    if (foreign !== null) {
      const message = `Host: expected a name of this service, received ${JSON.stringify(foreign)}. Add it to ALLOWED_HOSTS, or set API_KEYS_FILE.`;
      return forbidden(message);
    }
    if (SAFE_METHODS.has(method) && !isUpgrade) return null;
    return isOwn(origin, site, host) ? null : forbidden(CROSS_SITE);
  }

  /** The Host header, if its name is not a name of this service; else null. */
  #foreignName(host: string | undefined): string | null {
    const [, name = ''] = HOST.exec(host ?? '') ?? [];
    return this.#isName(name) ? null : (host ?? '');
  }

  /** Host name of a same-origin page, if it is not a name of this service; a proxy may have changed Host. */
  #foreignOrigin(origin: string | undefined, site: string | string[] | undefined): string | null {
    if (origin === undefined || site !== 'same-origin' || !URL.canParse(origin)) return null;
    const { hostname: name } = new URL(origin);
    return this.#isName(name) ? null : name;
  }

  /** IP addresses are always accepted: DNS rebinding needs a name. */
  #isName(name: string): boolean {
    if (this.#names === null || isIP(name.replace(/^\[(.*)\]$/, '$1')) > 0) return true;
    const plain = name.toLowerCase().replace(/\.$/, '');
    return this.#names.has(plain) || plain.endsWith('.localhost');
  }
}

/**
 * Whether the page that sends the request is of this service, by the rules of `CrossOriginProtection` of Go's net/http:
 * Sec-Fetch-Site, which no page can set. Browsers before 2023, and all over plain HTTP, send only Origin.
 */
function isOwn(
  origin: string | undefined,
  site: string | string[] | undefined,
  host: string | undefined,
): boolean {
  if (site === 'same-origin') return true;
  // "none": the user opened the address.
  if (site === 'none' && origin === undefined) return true;
  if (site !== undefined && site !== 'none') return false;
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  // `URL.host` omits the default port of the scheme.
  const { protocol, host: expected } = new URL(origin);
  const url = `${protocol}//${host}`;
  return URL.canParse(url) && new URL(url).host === expected && expected !== '';
}

function forbidden(message: string): ServiceError {
  return new ServiceError('FORBIDDEN', message);
}

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
