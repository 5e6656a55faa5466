/**
 * A client of both services, for Node.js and browsers. It needs `fetch` and nothing else; the types
 * of the answers are those of the schemas that the services document themselves with.
 */
import type {
  AnalyzeAnswer,
  AnalyzeBatchAnswer,
  EegInfo,
  HealthAnswer,
  PredictAnswer,
  PredictBatchAnswer,
  SentimentInfo,
} from './http/schemas/answers';

export type {
  AnalyzeAnswer,
  AnalyzeBatchAnswer,
  EegInfo,
  HealthAnswer,
  PredictAnswer,
  PredictBatchAnswer,
  SentimentInfo,
} from './http/schemas/answers';

export interface ClientOptions {
  /** Sent as `Authorization: Bearer …`, where the service has keys; wins over one in `headers`. */
  readonly apiKey?: string;
  /** Longest wait for an answer, in ms, unless a call has its own. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Sent with every request, such as `x-request-id`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Aborted: the call rejects with the signal's reason, and the service drops the request. */
  readonly signal?: AbortSignal;
  /** In ms. When it has passed the call rejects with a DOMException named TimeoutError. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

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

  constructor(response: Response, detail: string) {
    super(`${response.status}: ${detail}`);
    this.status = response.status;
    this.detail = detail;
    const retryAfter = response.headers.get('retry-after');
    this.retryAfter = retryAfter === null ? null : Number(retryAfter);
    this.requestId = response.headers.get('x-request-id');
  }
}

class Client {
  readonly #url: string;
  readonly #options: ClientOptions;

  /**
   * @param url of the service, such as `http://localhost:8000`, with the path that it has behind a proxy
   * @throws TypeError: the key cannot be one
   */
  constructor(url: string, options: ClientOptions = {}) {
    // `fetch` would say so itself, and quote it.
    if (options.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('apiKey: expected visible ASCII characters without spaces');
    }
    this.#url = url.replace(/\/+$/, '');
    this.#options = options;
  }

  /** @throws ResponseError; a TypeError where the service cannot be reached; see `CallOptions` */
  health(options?: CallOptions): Promise<HealthAnswer> {
    return this.call('/health', undefined, options);
  }

  /** Whether requests should be sent there. @throws as `health`, but for 503 */
  async ready(options?: CallOptions): Promise<boolean> {
    try {
      await this.call('/ready', undefined, options);
      return true;
    } catch (error) {
      if (error instanceof ResponseError && error.status === 503) return false;
      throw error;
    }
  }

  /** POSTs where there is a body. */
  protected async call<Answer>(
    path: string,
    body: object | undefined,
    { signal, timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS }: CallOptions = {},
  ): Promise<Answer> {
    const send = this.#options.fetch ?? fetch;
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers = new Headers(this.#options.headers);
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await send(`${this.#url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Answer;
    throw new ResponseError(response, detailOf(text));
  }
}

export interface AnalyzeOptions extends CallOptions {
  /** A second text, which the model reads with the first (premise and hypothesis). */
  readonly textPair?: string | null;
}

/** An element of a list: a text, and what it is read with. */
export interface TextWithPair {
  readonly text: string;
  readonly textPair?: string | null;
}

/** Of the sentiment service. */
export class SentimentClient extends Client {
  analyze(text: string, options: AnalyzeOptions = {}): Promise<AnalyzeAnswer> {
    return this.call('/analyze', bodyOf({ ...options, text }), options);
  }

  /** @returns in the order of the texts */
  async analyzeBatch(
    texts: readonly (string | TextWithPair)[],
    options?: CallOptions,
  ): Promise<AnalyzeBatchAnswer['results']> {
    const body = { texts: texts.map((one) => (typeof one === 'string' ? one : bodyOf(one))) };
    return (await this.call<AnalyzeBatchAnswer>('/analyze/batch', body, options)).results;
  }

  info(options?: CallOptions): Promise<SentimentInfo> {
    return this.call('/info', undefined, options);
  }
}

export interface PredictOptions extends CallOptions {
  /** Comes back in the answer. */
  readonly patientId?: string | null;
}

/** Of the EEG service. A demonstration, not a medical device. */
export class EegClient extends Client {
  /** @param signal one window of the model's length, in any linear unit */
  predict(signal: ArrayLike<number>, options: PredictOptions = {}): Promise<PredictAnswer> {
    const { patientId = null } = options;
    return this.call('/predict', { signal: Array.from(signal), patient_id: patientId }, options);
  }

  /** @returns in the order of the signals */
  async predictBatch(
    signals: readonly ArrayLike<number>[],
    options: PredictOptions = {},
  ): Promise<PredictBatchAnswer['results']> {
    const { patientId = null } = options;
    const body = { signals: signals.map((one) => Array.from(one)), patient_id: patientId };
    return (await this.call<PredictBatchAnswer>('/predict/batch', body, options)).results;
  }

  info(options?: CallOptions): Promise<EegInfo> {
    return this.call('/info', undefined, options);
  }
}

function bodyOf({ text, textPair = null }: TextWithPair): object {
  return textPair === null ? { text } : { text, text_pair: textPair };
}

/** A proxy in between may answer with something else. */
function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown };
    if (typeof detail === 'string') return detail;
  } catch {}
  return text.slice(0, 200);
}
