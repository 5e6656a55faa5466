import type { Request, Response } from 'express';
import { BODY_METHODS } from '../protocols/route';
import { REQUEST_HEADERS, RESPONSE_HEADERS } from '../serving/header-names';
import { endResponse } from './http-request-context';

/** Request headers of client libraries, which the service ignores. */
const CLIENT_HEADERS = [
  'Idempotency-Key',
  'OpenAI-Beta',
  'OpenAI-Organization',
  'OpenAI-Project',
  'X-Client-Name',
  'X-HF-Bill-To',
  'X-TypeSafe-Retry-Count',
  'X-TypeSafe-Runtime',
];
/** Families of such headers: `openai` sends X-Stainless-*, `cohere-ai` X-Fern-*. */
const CLIENT_PREFIXES = /^x-(?:stainless|fern)-[a-z\d-]+$/;
/** Maximum length of Access-Control-Request-Headers that is parsed, in characters. */
const MAX_CHARACTERS = 4096;

const ALLOWED_METHODS = ['GET', 'HEAD', ...BODY_METHODS].join(', ');
const ALLOWED_HEADERS = [...REQUEST_HEADERS, ...CLIENT_HEADERS].join(', ');
const EXPOSED_HEADERS = RESPONSE_HEADERS.join(', ');
/** Time for which browsers cache a preflight, in seconds; Chromium's maximum. */
const MAX_AGE = '7200';

/** CORS for the origins in CORS_ORIGINS (Fetch standard). Credentials are not allowed. */
export class Cors {
  readonly #isAnyAllowed: boolean;
  readonly #origins: ReadonlySet<string>;

  /** @param origins values of the Origin header; `['*']`: all */
  constructor(origins: readonly string[]) {
    this.#isAnyAllowed = origins[0] === '*';
    this.#origins = new Set(origins);
  }

  /**
   * Sets the CORS headers of a response, and answers preflight requests, whatever their path.
   *
   * @returns true if the request was a preflight
   */
  answers({ headers, method }: Request, response: Response): boolean {
    if (!this.#isAnyAllowed) response.vary('Origin');
    const { origin } = headers;
    if (origin === undefined || !(this.#isAnyAllowed || this.#origins.has(origin))) return false;
    response.setHeader('Access-Control-Allow-Origin', this.#isAnyAllowed ? '*' : origin);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return false;
    }
    const requested = clientHeaders(headers['access-control-request-headers']);
    response.setHeader('Access-Control-Allow-Methods', ALLOWED_METHODS);
    response.setHeader('Access-Control-Allow-Headers', [ALLOWED_HEADERS, ...requested].join(', '));
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
    endResponse(response.status(204), undefined);
    return true;
  }
}

/** The requested headers that belong to a client library. */
function clientHeaders(requested: string | undefined): readonly string[] {
  if (requested === undefined || requested.length > MAX_CHARACTERS) return [];
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => CLIENT_PREFIXES.test(name));
}
