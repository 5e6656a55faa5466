import type { AnalyzeBatchResponse, AnalyzeResponse } from '../protocols/own/analyze';
import type { EncodeResponse } from '../protocols/own/encode';
import type { GuardFileResponse, GuardResponse } from '../protocols/own/guard';
import type { ModelsInfo, SentimentInfo, ServiceInfo } from '../protocols/own/info';
import type { TagBatchResponse, TagRequest, TagResponse } from '../protocols/own/tag';
import type { ZeroShotResponse } from '../protocols/own/zero-shot';
import { Client, isObject } from './client';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import type { CallOptions } from './retry';

/** A text, or an object with a text and optionally its pair, such as a table row. Other properties are not sent. */
export type TextElement = string | TextWithPair;

export interface AnalyzeOptions extends CallOptions {
  /** Second text of a text pair, such as the hypothesis of a premise. */
  readonly textPair?: string | null;
}

export interface TextWithPair {
  readonly text: string;
  readonly textPair?: string | null;
}

/** Client of a text classification model. */
export class SentimentClient extends Client<SentimentInfo> {
  analyze(text: string, options: AnalyzeOptions = {}): Promise<AnalyzeResponse> {
    return this.call('/analyze', toTextPair({ ...options, text }), options);
  }

  /** @returns results in the order of the texts */
  async analyzeBatch(
    texts: readonly TextElement[],
    options?: CallOptions,
  ): Promise<AnalyzeBatchResponse['results']> {
    const body = {
      texts: texts.map((text) => (typeof text === 'string' ? text : toTextPair(text))),
    };
    return (await this.call<AnalyzeBatchResponse>('/analyze/batch', body, options)).results;
  }

  /**
   * Classifies any number of texts with several concurrent batch requests. Yields one outcome per text, in order:
   * `for await (const { index, input, ok, … } of client.analyzeAll(texts))`
   *
   * @throws see `BatchPipeline`
   */
  analyzeAll<Element extends TextElement>(
    source: AllSource<Element>,
    options: AllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, AnalyzeBatchResponse['results'][number]>> {
    const list = { field: 'texts', rest: '', toJson: toListElement };
    return this.sendAll('/analyze/batch', list, source, options);
  }
}

export interface ZeroShotOptions extends CallOptions {
  /** Template with `{}` for the label. Default: `This example is {}.` */
  readonly hypothesisTemplate?: string;
  /** Scores each label independently. Default: false, the scores add up to 1. */
  readonly multiLabel?: boolean;
}

/** Client of an entailment model: `http://localhost:8000/models/NAME`. */
export class ZeroShotClient extends SentimentClient {
  /** @returns candidate labels by descending score */
  zeroShot(
    text: string,
    labels: readonly string[],
    options: ZeroShotOptions = {},
  ): Promise<ZeroShotResponse> {
    const body = {
      text,
      candidate_labels: labels,
      hypothesis_template: options.hypothesisTemplate,
      multi_label: options.multiLabel,
    };
    return this.call('/zero-shot', body, options);
  }
}

export interface EmbedOptions extends CallOptions {
  /** Truncates embeddings to this number of dimensions. Default: all. */
  readonly dimensions?: number;
  /** L2-normalizes embeddings. Default: true. */
  readonly normalize?: boolean;
  /** Name of the model's prompt that is prepended to each text. Default: the model's default prompt. */
  readonly promptName?: string;
  /** Task of a model with LoRA adapters of several tasks. Default: none, or `adapter` in model.json. */
  readonly task?: string;
}

export interface ChunkOptions extends CallOptions {
  /** See `EmbedOptions`. */
  readonly task?: string;
  /** Truncates embeddings to this number of dimensions. Default: all. */
  readonly dimensions?: number;
  /** L2-normalizes embeddings. Default: as the model specifies. */
  readonly normalize?: boolean;
  /** Removes the tokens over the limit of the model from the end. Default: false, the texts are rejected. */
  readonly truncate?: boolean;
}

export interface EncodeOptions extends CallOptions {
  /** Default: true. */
  readonly dense?: boolean;
  /** Default: false. */
  readonly sparse?: boolean;
  /** Default: false. */
  readonly colbert?: boolean;
  /** Maximum length in tokens. Default: the limit of the model. */
  readonly maxLength?: number;
}

/** Client of an embedding model: `http://localhost:8000/models/NAME`. */
export class EmbedClient extends Client<ServiceInfo> {
  async embed(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const [vector] = await this.embedBatch([text], options);
    return vector as Float32Array;
  }

  /** @returns embeddings in the order of the texts */
  async embedBatch(
    texts: readonly string[],
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    const { dimensions, normalize, promptName, task } = options;
    const body = { inputs: texts, dimensions, normalize, prompt_name: promptName, task };
    const vectors = await this.call<readonly (readonly number[])[]>('/embed', body, options);
    return vectors.map((vector) => Float32Array.from(vector));
  }

  /**
   * Late chunking: the model reads all texts as one text, and returns the mean of the token embeddings of each text.
   *
   * @param chunks consecutive parts of one text
   * @returns embeddings in the order of the chunks
   */
  async embedChunks(
    chunks: readonly string[],
    options: ChunkOptions = {},
  ): Promise<readonly Float32Array[]> {
    const { dimensions, normalize, truncate, task } = options;
    const body = {
      input: chunks,
      task,
      late_chunking: true,
      dimensions,
      normalized: normalize,
      truncate,
    };
    type Body = { readonly data: readonly { readonly embedding: readonly number[] }[] };
    const { data } = await this.call<Body>('/v1/embeddings', body, options);
    return data.map(({ embedding }) => Float32Array.from(embedding));
  }

  /** Dense, sparse and ColBERT embeddings of a bge-m3 model. */
  encode(texts: readonly string[], options: EncodeOptions = {}): Promise<EncodeResponse> {
    const { dense, sparse, colbert, maxLength } = options;
    const body = {
      texts,
      return_dense: dense,
      return_sparse: sparse,
      return_colbert_vecs: colbert,
      max_length: maxLength,
    };
    return this.call('/encode', body, options);
  }
}

export interface RerankOptions extends CallOptions {
  /** Maximum number of documents in the result. Default: all. */
  readonly topN?: number;
}

export interface RankedDocument {
  /** Index of the document in the request. */
  readonly index: number;
  readonly score: number;
}

/** Client of a reranking model (cross-encoder): `http://localhost:8000/models/NAME`. */
export class RerankClient extends Client<ServiceInfo> {
  /** @returns documents by descending score */
  async rerank(
    query: string,
    documents: readonly string[],
    options: RerankOptions = {},
  ): Promise<readonly RankedDocument[]> {
    const body = { query, documents, return_documents: false, top_n: options.topN };
    type Body = { readonly results: readonly { index: number; relevance_score: number }[] };
    const { results } = await this.call<Body>('/v1/rerank', body, options);
    return results.map(({ index, relevance_score: score }) => ({ index, score }));
  }
}

export interface TagOptions extends CallOptions {
  /** Aggregation strategy. Default: Viterbi decoding if the model has it, otherwise simple. */
  readonly strategy?: NonNullable<TagRequest['aggregation_strategy']>;
  /** Labels to omit, without the prefixes `B-` and `I-`. Default: O. */
  readonly ignoreLabels?: readonly string[];
  /** Overlap of the windows of a long text, in tokens. Default: long texts are truncated. */
  readonly stride?: number;
}

/** Client of a token classification model: `http://localhost:8000/models/NAME`. */
export class TagClient extends Client<ServiceInfo> {
  /** @returns entities with offsets for `text.slice` */
  tag(text: string, options: TagOptions = {}): Promise<TagResponse> {
    return this.call('/tag', { text, ...toSpanSettings(options) }, options);
  }

  /** @returns results in the order of the texts */
  async tagBatch(
    texts: readonly string[],
    options: TagOptions = {},
  ): Promise<TagBatchResponse['results']> {
    const body = { texts, ...toSpanSettings(options) };
    return (await this.call<TagBatchResponse>('/tag/batch', body, options)).results;
  }
}

export interface GuardOptions extends CallOptions {
  /** Whether the texts are a prompt to a language model or its response. Default: input. */
  readonly direction?: 'input' | 'output';
  /** Adds the originals of the placeholders to the response. Default: false. */
  readonly map?: boolean;
  /** Adds scores below the thresholds to the response. Default: false. */
  readonly scores?: boolean;
}

/** Client of the guardrail of a model repository: `http://localhost:8000`. */
export class GuardClient extends Client<ModelsInfo> {
  /** @param texts a text or its parts; findings refer to a part by its index */
  guard(texts: string | readonly string[], options: GuardOptions = {}): Promise<GuardResponse> {
    const { direction, map, scores } = options;
    const input = typeof texts === 'string' ? { text: texts } : { texts };
    return this.call('/guard', { ...input, direction, map, scores }, options);
  }

  /** Returns the guardrail policy with its defaults. @throws ResponseError 500 if the policy is not loaded */
  guardFile(options?: CallOptions): Promise<GuardFileResponse> {
    return this.call('/guard/file', undefined, options);
  }
}

function toTextPair({ text, textPair = null }: TextWithPair): object {
  return textPair === null ? { text } : { text, text_pair: textPair };
}

/** Converts an element of `analyzeAll`. Invalid elements are sent unchanged, so that the server reports the error. */
function toListElement(element: unknown): unknown {
  if (!isObject(element) || !('text' in element)) return element;
  const pair = element as TextWithPair;
  return (pair.textPair ?? null) === null ? pair.text : toTextPair(pair);
}

function toSpanSettings({ strategy, ignoreLabels, stride }: TagOptions): object {
  return { aggregation_strategy: strategy, ignore_labels: ignoreLabels, stride };
}
