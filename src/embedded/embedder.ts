import path from 'node:path';
import { similarity } from '../lib/numbers';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type {
  Embedding,
  EmbeddingInput,
  EmbeddingMetadata,
  MultiEmbedding,
  Parts,
} from '../tasks/capabilities';
import { embedding } from '../tasks/embedding/embedding-task';
import { postprocessEmbedding } from '../tasks/embeddings';
import { multiEmbedding } from '../tasks/multi-embedding-views';
import {
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
  ModelEngine,
  type RunOptions,
} from './engine';

export interface EmbedderOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of a sentence-transformers model or of an encoder, written by `save_pretrained`. */
  readonly modelDirectory: string;
}

export interface EmbedOptions extends RunOptions {
  /**
   * Name of the model's prompt that is inserted before each text. Default: the default prompt of
   * the model.
   */
  readonly promptName?: string;
  /**
   * Truncates embeddings to this number of dimensions. Embeddings of normalizing models are
   * normalized again.
   */
  readonly dimensions?: number;
  /** Whether embeddings are L2-normalized. Default: as specified by the model. */
  readonly normalize?: boolean;
}

/**
 * Text embedding model, equivalent to `SentenceTransformer.encode`. Load it once and call `close`
 * to release it.
 */
export class Embedder extends ModelEngine<EmbeddingInput, Embedding, EmbeddingMetadata> {
  /**
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names
   *   the file and the key
   */
  static async load({ modelDirectory, ...options }: EmbedderOptions): Promise<Embedder> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return new Embedder(await loadTexts(embedding, path.resolve(modelDirectory), scheduling));
  }

  /** Dimensions of an embedding. */
  get dimensions(): number {
    return this.model.metadata.dimensions;
  }

  /** Maximum length of a text in tokens. Longer texts are truncated. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /** Names of the model's prompts. */
  get prompts(): readonly string[] {
    return Object.keys(this.model.metadata.prompts);
  }

  /**
   * Computes the embedding of a text.
   *
   * @throws EngineError, InputError
   */
  async embed(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const input = this.#toInput(text, null, options);
    return this.#toVector(await this.model.run(input, options), options);
  }

  /**
   * Computes dense, sparse and ColBERT embeddings of texts with a bge-m3 model in one pass.
   *
   * @param parts embeddings to return. Default: dense
   * @returns embeddings in input order; null: not requested
   * @throws EngineError; InputError if the model is not bge-m3
   */
  async encode(
    texts: readonly string[],
    parts: Partial<Parts> = { dense: true },
    options: RunOptions = {},
  ): Promise<readonly Pick<MultiEmbedding, 'dense' | 'sparse' | 'colbert'>[]> {
    const { metadata } = this.model;
    if (!metadata.isMulti) {
      const message =
        'encode: expected a bge-m3 model, with sparse_linear.pt and colbert_linear.pt';
      throw new InputError(message, null);
    }
    const all = { dense: false, sparse: false, colbert: false, ...parts };
    const inputs = texts.map((text) => ({ text, parts: all }));
    const predictions = await this.model.withTask(multiEmbedding, metadata).runAll(inputs, options);
    return predictions.map(({ dense, sparse, colbert }) => ({ dense, sparse, colbert }));
  }

  /**
   * Computes the embeddings of several texts.
   *
   * @returns embeddings in input order
   * @throws EngineError, InputError with the index of the text
   */
  async embedBatch(
    texts: readonly string[],
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    const inputs = texts.map((text, index) => this.#toInput(text, index, options));
    const predictions = await this.model.runAll(inputs, options);
    return predictions.map((prediction) => this.#toVector(prediction, options));
  }

  /**
   * Similarity of two embeddings by the similarity function of the model, cosine by default. Higher
   * values are more similar.
   */
  similarity(a: Float32Array, b: Float32Array): number {
    return similarity(a, b, this.model.metadata.similarity);
  }

  #toInput(
    text: unknown,
    index: number | null,
    { promptName, dimensions }: EmbedOptions,
  ): EmbeddingInput {
    if (typeof text !== 'string') {
      throw new InputError(
        `expected a string, received ${text === null ? 'null' : typeof text}`,
        index,
      );
    }
    const most = this.dimensions;
    if (
      dimensions !== undefined &&
      !(Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= most)
    ) {
      throw new InputError(`dimensions: expected a whole number from 1 to ${most}`, null);
    }
    if (promptName === undefined) return { text };
    const { prompts } = this.model.metadata;
    const prompt = Object.hasOwn(prompts, promptName) ? prompts[promptName] : undefined;
    if (prompt !== undefined) return { text, prompt };
    const known = this.prompts.join(', ') || 'it has none';
    throw new InputError(`promptName: the model has no such prompt (${known})`, null);
  }

  #toVector({ vector }: Embedding, options: EmbedOptions): Float32Array {
    return postprocessEmbedding(vector, this.model.metadata, options);
  }
}
