/** Error response of the server. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  /** HTTP status. */
  readonly status: number;
  /** Error code of the server, such as `QUEUE_FULL`, from `X-Error-Code`; null without that header. */
  readonly code: string | null;
  /** Error message of the server. */
  readonly detail: string;
  /** Delay before a retry in seconds, from `Retry-After`; null without that header. */
  readonly retryAfter: number | null;
  /** Id of the request in the server log; null without that header. */
  readonly requestId: string | null;

  constructor({
    status,
    code,
    detail,
    retryAfter,
    requestId,
  }: Pick<ResponseError, 'status' | 'code' | 'detail' | 'retryAfter' | 'requestId'>) {
    super(`${status}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  static of(response: Response, text: string): ResponseError {
    const { status, headers } = response;
    const retryAfter = parseRetryAfter(headers.get('retry-after'));
    const code = headers.get('x-error-code');
    const requestId = headers.get('x-request-id');
    return new ResponseError({ status, code, detail: parseDetail(text), retryAfter, requestId });
  }
}

/** Reads the error message: `detail`, `error` on routes of text-embeddings-inference, or the text of a proxy. */
function parseDetail(text: string): string {
  try {
    const { detail, error } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof detail === 'string') return detail;
    if (typeof error === 'string') return error;
  } catch {}
  return text.slice(0, 200);
}

/** Parses `Retry-After`: a number of seconds or a date. */
function parseRetryAfter(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/**
 * The server does not respond: several consecutive requests timed out, including one with an element that had
 * succeeded before. No element is at fault, and no element is lost.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /**
   * Index of the first element without an outcome, from 0: the element to continue from. With `ordered: false`, later
   * elements may have outcomes as well.
   */
  readonly next: number;
  /** Error of the last request: a DOMException named TimeoutError, or a 504. */
  override readonly cause: Error;

  constructor(next: number, cause: Error) {
    super(
      `The server does not respond: continue from element ${next}. Last error: ${cause.message}`,
    );
    this.next = next;
    this.cause = cause;
  }
}

/** The server closed a stream, or its connection broke and could not be restored. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  /** WebSocket close code, see docs/reference/streaming-protocol.md; 1006 if the connection broke. */
  readonly code: number;
  /** Error message of the server. */
  readonly detail: string;

  constructor(code: number, detail: string) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}
