import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { ServiceError } from '../serving/errors';

/** Methods that change nothing (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A Host header: a name, an IPv4 address, or an IPv6 address in brackets; and a port. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d*)?$/i;

const CROSS_SITE =
  'The request comes from a page of another origin. Add the origin of the page to CORS_ORIGINS.';

export interface OriginPolicyOptions {
  /** Origins of pages that may send every request; the one element `*`: all. */
  readonly corsOrigins: readonly string[];
  /** Names under which browsers reach the service, in lower case, besides those of this machine; `*`: all. */
  readonly allowedHosts: readonly string[];
  /** HOST or MANAGEMENT_HOST. */
  readonly hosts: readonly (string | undefined)[];
  /** Without a key, a page could use the service under a name of its own (DNS rebinding). */
  readonly isKeyNeeded: boolean;
}

/**
 * Rejects requests that a browser sends for a page that has no business here: without CORS a browser hides the
 * response from the page, but it sends the request all the same. Requests without `Origin` and `Sec-Fetch-Site` do
 * not come from such a page, and pass.
 */
export class OriginPolicy {
  readonly #origins: ReadonlySet<string>;
  readonly #areAllAllowed: boolean;
  /** Null: any name will do. */
  readonly #names: ReadonlySet<string> | null;

  constructor({ corsOrigins, allowedHosts, hosts, isKeyNeeded }: OriginPolicyOptions) {
    this.#origins = new Set(corsOrigins);
    this.#areAllAllowed = corsOrigins[0] === '*';
    const own = ['localhost', hostname(), ...hosts.filter((host) => host !== undefined)];
    const names = [...own.map((name) => name.toLowerCase()), ...allowedHosts];
    this.#names = isKeyNeeded || allowedHosts.includes('*') ? null : new Set(names);
  }

  /** Null: the request may go on. @param isUpgrade to a WebSocket, which a page can then read */
  problemOf(
    { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
    isUpgrade = false,
  ): ServiceError | null {
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'];
    if (origin === undefined && site === undefined) return null;
    if (this.#areAllAllowed || (origin !== undefined && this.#origins.has(origin))) return null;
    // A page whose name leads here, as soon as its DNS server says so, is of the same origin to its browser.
    const foreign = this.#foreignName(host) ?? this.#foreignOrigin(origin, site);
    if (foreign !== null) {
      const message = `Host: expected a name of this service, received ${JSON.stringify(foreign)}. Add it to ALLOWED_HOSTS, or set API_KEYS_FILE.`;
      return forbidden(message);
    }
    if (SAFE_METHODS.has(method) && !isUpgrade) return null;
    return isOwn(origin, site, host) ? null : forbidden(CROSS_SITE);
  }

  /** The name in a Host header, if it is none of this service. */
  #foreignName(host: string | undefined): string | null {
    const [, name = ''] = HOST.exec(host ?? '') ?? [];
    return this.#isName(name) ? null : (host ?? '');
  }

  /** The same of the origin of a page that its browser takes for one of this service: a proxy may change Host. */
  #foreignOrigin(origin: string | undefined, site: string | string[] | undefined): string | null {
    if (origin === undefined || site !== 'same-origin' || !URL.canParse(origin)) return null;
    const { hostname: name } = new URL(origin);
    return this.#isName(name) ? null : name;
  }

  /** Addresses cannot be rebound: only names can lead to another machine than before. */
  #isName(name: string): boolean {
    if (this.#names === null || isIP(name.replace(/^\[(.*)\]$/, '$1')) > 0) return true;
    const plain = name.toLowerCase().replace(/\.$/, '');
    return this.#names.has(plain) || plain.endsWith('.localhost');
  }
}

/**
 * Whether a page of this service sends it, as `CrossOriginProtection` of Go's net/http decides: by Sec-Fetch-Site,
 * which no page can set; browsers before 2023 send Origin only, and over plain HTTP all do.
 */
function isOwn(
  origin: string | undefined,
  site: string | string[] | undefined,
  host: string | undefined,
): boolean {
  if (site === 'same-origin') return true;
  // "none": the user has asked for it, by the address bar or the like.
  if (site === 'none' && origin === undefined) return true;
  if (site !== undefined && site !== 'none') return false;
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  // Without the port that is the scheme's own, as `URL.host` has it.
  const { protocol, host: expected } = new URL(origin);
  const url = `${protocol}//${host}`;
  return URL.canParse(url) && new URL(url).host === expected && expected !== '';
}

function forbidden(message: string): ServiceError {
  return new ServiceError('FORBIDDEN', message);
}
