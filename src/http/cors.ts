import type { Request, Response } from 'express';
import { endWith } from './send';

/** What a page may send, and what it may read, beyond what every page may. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Traceparent, Tracestate, X-Request-Id, X-Request-Timeout-Ms';
const RESPONSE_HEADERS = [
  'Retry-After',
  'X-Compute-Tokens',
  'X-Inference-Time',
  'X-Input-Truncated',
  'X-Queue-Time',
  'X-Request-Id',
  'X-Tokenization-Time',
].join(', ');
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
      response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
      return false;
    }
    response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST');
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
    endWith(response.status(204), undefined);
    return true;
  }
}
