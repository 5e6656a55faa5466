import type { AnalyzeBatchResponse, AnalyzeResponse } from '../protocols/own/analyze';
import type { SentimentInfo } from '../protocols/own/info';
import type { ZeroShotResponse } from '../protocols/own/zero-shot';
import { Client, isObject } from './client';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import type { CallOptions } from './retry';

/** A text; or an object with one, and perhaps its pair, as a row of a table, of which nothing else is sent. */
export type TextElement = string | TextWithPair;

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
  analyze(text: string, options: AnalyzeOptions = {}): Promise<AnalyzeResponse> {
    return this.call('/analyze', bodyOf({ ...options, text }), options);
  }

  /** @returns in the order of the texts */
  async analyzeBatch(
    texts: readonly (string | TextWithPair)[],
    options?: CallOptions,
  ): Promise<AnalyzeBatchResponse['results']> {
    const body = { texts: texts.map((one) => (typeof one === 'string' ? one : bodyOf(one))) };
    return (await this.call<AnalyzeBatchResponse>('/analyze/batch', body, options)).results;
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
  ): AsyncIterableIterator<Outcome<Element, AnalyzeBatchResponse['results'][number]>> {
    const list = { field: 'texts', rest: '', jsonOf: textOf };
    return this.sendAll('/analyze/batch', list, source, options);
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
  ): Promise<ZeroShotResponse> {
    const { hypothesisTemplate, multiLabel } = options;
    const body = {
      text,
      candidate_labels: labels,
      ...(hypothesisTemplate !== undefined && { hypothesis_template: hypothesisTemplate }),
      ...(multiLabel !== undefined && { multi_label: multiLabel }),
    };
    return this.call('/zero-shot', body, options);
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
