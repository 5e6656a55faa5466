/**
 * A client of both services, for Node.js and browsers. It needs `fetch` and nothing else; the types
 * of the answers are those of the schemas that the services document themselves with.
 */
import { withDeadline } from './client/abort';
import type { AllOptions, AllSource } from './client/all-options';
import type { Outcome } from './client/ask-list';
import { ResponseError } from './client/errors';
import { Flow, type ListLimits, type ListRoute } from './client/flow';
import { type CallOptions, withRetries } from './client/retry';
import type {
  AnalyzeAnswer,
  AnalyzeBatchAnswer,
  EegInfo,
  HealthAnswer,
  PredictAnswer,
  PredictBatchAnswer,
  SentimentInfo,
  ServiceInfo,
  ZeroShotAnswer,
} from './protocols/own/schemas/answers';

import type { SpanSettings, TagAnswer, TagBatchAnswer } from './protocols/own/schemas/tag';

export type { AllOptions, AllSource } from './client/all-options';
export type { Outcome } from './client/ask-list';
export { NoAnswerError, ResponseError } from './client/errors';
export type { CallOptions, RetryOptions } from './client/retry';
export type {
  AnalyzeAnswer,
  AnalyzeBatchAnswer,
  EegInfo,
  HealthAnswer,
  PredictAnswer,
  PredictBatchAnswer,
  SentimentInfo,
  ServiceInfo,
  ZeroShotAnswer,
} from './protocols/own/schemas/answers';

export type { TagAnswer, TagBatchAnswer } from './protocols/own/schemas/tag';

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

/** A text; or an object with one, and perhaps its pair, as a row of a table, of which nothing else is sent. */
export type TextElement = string | TextWithPair;
/** One window of the model's length; or an object with one. */
export type SignalElement = ArrayLike<number> | { readonly signal: ArrayLike<number> };

const TIMEOUT_MS = 60_000;

class Client<Info extends { readonly limits: ListLimits }> {
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

  info(options?: CallOptions): Promise<Info> {
    return this.call('/info', undefined, options);
  }

  /** POSTs where there is a body, an object or JSON. */
  protected call<Answer>(
    path: string,
    body?: object | string,
    options: CallOptions = {},
  ): Promise<Answer> {
    const { signal, timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS } = options;
    const json = typeof body === 'object' ? JSON.stringify(body) : body;
    const attempt = (): Promise<Answer> =>
      withDeadline(signal, timeoutMs, (either) => this.#attempt(path, json, either));
    return withRetries(attempt, options);
  }

  protected askAll<Element, Result>(
    path: string,
    list: Pick<ListRoute<Element, Result>, 'field' | 'rest' | 'jsonOf'>,
    source: AllSource<Element>,
    options: AllOptions,
  ): AsyncIterableIterator<Outcome<Element, Result>> {
    const route = {
      ...list,
      send: async (body: string, call: CallOptions) =>
        (await this.call<{ readonly results: readonly Result[] }>(path, body, call)).results,
      limits: async (call: CallOptions) => (await this.info(call)).limits,
    };
    return new Flow(route, source, options);
  }

  async #attempt<Answer>(
    path: string,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const send = this.#options.fetch ?? fetch;
    const headers = new Headers(this.#options.headers);
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await send(`${this.#url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      signal,
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as Answer;
    throw ResponseError.of(response, text);
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
export class SentimentClient extends Client<SentimentInfo> {
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

  /**
   * Any number of texts, as lists, several at a time: one outcome for each, in their order.
   * `for await (const { index, input, ok, … } of client.analyzeAll(texts))`
   *
   * @throws see `Flow`
   */
  analyzeAll<Element extends TextElement>(
    source: AllSource<Element>,
    options: AllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, AnalyzeBatchAnswer['results'][number]>> {
    const list = { field: 'texts', rest: '', jsonOf: textOf };
    return this.askAll('/analyze/batch', list, source, options);
  }
}

export interface ZeroShotOptions extends CallOptions {
  /** `{}` is the place of a label. Default: `This example is {}.` */
  readonly hypothesisTemplate?: string;
  /** Each label by itself. Default: false, the scores of all add up to 1. */
  readonly multiLabel?: boolean;
}

/** Of an entailment model: `http://localhost:8000/models/NAME`. */
export class ZeroShotClient extends SentimentClient {
  /** @returns the labels by falling score */
  zeroShot(
    text: string,
    labels: readonly string[],
    options: ZeroShotOptions = {},
  ): Promise<ZeroShotAnswer> {
    const { hypothesisTemplate, multiLabel } = options;
    const body = {
      ...{ text, candidate_labels: labels },
      ...(hypothesisTemplate !== undefined && { hypothesis_template: hypothesisTemplate }),
      ...(multiLabel !== undefined && { multi_label: multiLabel }),
    };
    return this.call('/zero-shot', body, options);
  }
}

export interface TagOptions extends CallOptions {
  /** How tokens become spans. Default: simple. */
  readonly strategy?: NonNullable<SpanSettings['aggregation_strategy']>;
  /** Labels that are left out, as spans have them. Default: O. */
  readonly ignoreLabels?: readonly string[];
  /** A long text is read in windows that share so many tokens. Default: it is cut. */
  readonly stride?: number;
}

/** Of a token classifier: `http://localhost:8000/models/NAME`. */
export class TagClient extends Client<ServiceInfo> {
  /** @returns spans, whose offsets are those of `text.slice` */
  tag(text: string, options: TagOptions = {}): Promise<TagAnswer> {
    return this.call('/tag', { text, ...spanSettings(options) }, options);
  }

  /** @returns in the order of the texts */
  async tagBatch(
    texts: readonly string[],
    options: TagOptions = {},
  ): Promise<TagBatchAnswer['results']> {
    const body = { texts, ...spanSettings(options) };
    return (await this.call<TagBatchAnswer>('/tag/batch', body, options)).results;
  }
}

function spanSettings({ strategy, ignoreLabels, stride }: TagOptions): object {
  return {
    ...(strategy !== undefined && { aggregation_strategy: strategy }),
    ...(ignoreLabels !== undefined && { ignore_labels: ignoreLabels }),
    ...(stride !== undefined && { stride }),
  };
}

export interface RerankOptions extends CallOptions {
  /** So many documents, the best ones. Default: all. */
  readonly topN?: number;
}

/** A document by its place in the list that was sent. */
export interface RankedDocument {
  readonly index: number;
  readonly score: number;
}

/** Of a cross-encoder: `http://localhost:8000/models/NAME`. */
export class RerankClient extends Client<ServiceInfo> {
  /** @returns by falling score */
  async rerank(
    query: string,
    documents: readonly string[],
    options: RerankOptions = {},
  ): Promise<readonly RankedDocument[]> {
    const { topN } = options;
    const body = {
      ...{ query, documents, return_documents: false },
      ...(topN !== undefined && { top_n: topN }),
    };
    type Answer = { readonly results: readonly { index: number; relevance_score: number }[] };
    const { results } = await this.call<Answer>('/v1/rerank', body, options);
    return results.map(({ index, relevance_score: score }) => ({ index, score }));
  }
}

export interface PredictOptions extends CallOptions {
  /** Comes back in the answer. */
  readonly patientId?: string | null;
}

export interface PredictAllOptions extends AllOptions {
  /** Of all windows. */
  readonly patientId?: string | null;
}

/** Of the EEG service. A demonstration, not a medical device. */
export class EegClient extends Client<EegInfo> {
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

  /** Any number of windows; as `SentimentClient.analyzeAll`. */
  predictAll<Element extends SignalElement>(
    source: AllSource<Element>,
    options: PredictAllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, PredictBatchAnswer['results'][number]>> {
    const { patientId = null } = options;
    const rest = `,"patient_id":${JSON.stringify(patientId)}`;
    const list = { field: 'signals', rest, jsonOf: signalOf };
    return this.askAll('/predict/batch', list, source, options);
  }
}

function bodyOf({ text, textPair = null }: TextWithPair): object {
  return textPair === null ? { text } : { text, text_pair: textPair };
}

/** What is neither a text nor has one goes to the service as it is, which says what is wrong with it. */
function textOf(element: unknown): unknown {
  if (!isObject(element) || !('text' in element)) return element;
  const { text, textPair = null } = element as TextWithPair;
  return textPair === null ? text : bodyOf({ text, textPair });
}

function signalOf(element: unknown): unknown {
  const signal = isObject(element) && 'signal' in element ? element.signal : element;
  return isObject(signal) && 'length' in signal ? Array.from(signal as ArrayLike<number>) : signal;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
