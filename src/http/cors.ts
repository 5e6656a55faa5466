import type { Request, Response } from 'express';
import { BODY_METHODS } from '../protocols/route';
import { REQUEST_HEADERS, RESPONSE_HEADERS } from '../serving/header-names';
import { endResponse } from './send';

/** Headers that client libraries of the protocols add to every request, and that the service ignores. */
const CLIENT_HEADERS = [
  'Idempotency-Key',
  'OpenAI-Beta',
  'OpenAI-Organization',
  'OpenAI-Project',
  'X-Client-Name',
  'X-HF-Bill-To',
];
/** The same, in families: `openai` sends X-Stainless-*, `cohere-ai` X-Fern-*. */
const CLIENT_PREFIXES = /^x-(?:stainless|fern)-[a-z\d-]+$/;
/** Longest list of such headers that is looked through, in characters. */
const MOST_CHARACTERS = 4096;

const ALLOWED_METHODS = ['GET', 'HEAD', ...BODY_METHODS].join(', ');
const ALLOWED_HEADERS = [...REQUEST_HEADERS, ...CLIENT_HEADERS].join(', ');
const EXPOSED_HEADERS = RESPONSE_HEADERS.join(', ');
/** How long a browser may remember a preflight, in seconds: as long as Chromium would at most. */
const MAX_AGE = '7200';

/** Lets pages of other origins ask (the Fetch standard's CORS protocol). Never with credentials. */
export class Cors {
  readonly #isAnyAllowed: boolean;
  readonly #origins: ReadonlySet<string>;

  /** @param origins as browsers send them; the one element `*`: all */
  constructor(origins: readonly string[]) {
    this.#isAnyAllowed = origins[0] === '*';
    this.#origins = new Set(origins);
  }

  /**
   * Puts into the answer what the page's browser wants to see. True: it was a preflight, and is
   * answered, whatever its path, which the request itself will be told about.
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
    const asked = clientHeaders(headers['access-control-request-headers']);
    response.setHeader('Access-Control-Allow-Methods', ALLOWED_METHODS);
    response.setHeader('Access-Control-Allow-Headers', [ALLOWED_HEADERS, ...asked].join(', '));
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
    endResponse(response.status(204), undefined);
    return true;
  }
}

/** Those of a client library among the headers that a page wants to send. */
function clientHeaders(requested: string | undefined): readonly string[] {
  if (requested === undefined || requested.length > MOST_CHARACTERS) return [];
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => CLIENT_PREFIXES.test(name));
}
