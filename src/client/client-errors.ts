/** The service answered with an error. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  /** HTTP status. */
  readonly status: number;
  /** What the service says is wrong, and where. */
  readonly detail: string;
  /** Seconds after which to try again; null: the service does not say. */
  readonly retryAfter: number | null;
  /** By which the service's log names the request. */
  readonly requestId: string | null;

  constructor({
    status,
    detail,
    retryAfter,
    requestId,
  }: Pick<ResponseError, 'status' | 'detail' | 'retryAfter' | 'requestId'>) {
    super(`${status}: ${detail}`);
    this.status = status;
    this.detail = detail;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  static of(response: Response, text: string): ResponseError {
    const { status, headers } = response;
    const retryAfter = secondsOf(headers.get('retry-after'));
    const requestId = headers.get('x-request-id');
    return new ResponseError({ status, detail: detailOf(text), retryAfter, requestId });
  }
}

/** Routes of text-embeddings-inference call it `error`; a proxy in between may answer with something else. */
function detailOf(text: string): string {
  try {
    const { detail, error } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof detail === 'string') return detail;
    if (typeof error === 'string') return error;
  } catch {}
  return text.slice(0, 200);
}

/** Retry-After is a number of seconds, or, from some proxies, a date. */
function secondsOf(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/**
 * The service does not answer: several requests in a row ended with their deadline, also one for an
 * element that it had answered before. No element is at fault, and none is lost.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /**
   * Index of the first element without an outcome, from 0: where to go on. All before it have had
   * theirs; with `ordered: false` some behind it, too.
   */
  readonly next: number;
  /** How the last of these requests ended: a DOMException named TimeoutError, or a 504. */
  override readonly cause: Error;

  constructor(next: number, cause: Error) {
    super(`The service does not answer: go on from element ${next}. Last: ${cause.message}`);
    this.next = next;
    this.cause = cause;
  }
}

/** The service ended a stream, or its connection broke, and it did not go on. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /** With which the connection was closed, see docs/streaming.md; 1006: it broke. */
  readonly code: number;
  /** What the service says is wrong, and where. */
  readonly detail: string;

  constructor(code: number, detail: string) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}
