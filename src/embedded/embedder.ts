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
import { isBlank } from '../tasks/classification';
import { embedding } from '../tasks/embedding/embedding-task';
import { lateChunking } from '../tasks/embedding/late-chunking';
import { postprocessEmbedding, selectPrompt } from '../tasks/embeddings';
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
   * Task of a model with LoRA adapters of several tasks (jina-embeddings-v3). Its instruction is inserted before each
   * text, unless `promptName` is set. Default: the task that has the name of the prompt, otherwise `adapter` in
   * model.json, otherwise none.
   */
  readonly task?: string;
  /**
   * Truncates embeddings to this number of dimensions. Embeddings of normalizing models are
   * normalized again.
   */
  readonly dimensions?: number;
  /** Whether embeddings are L2-normalized. Default: as specified by the model. */
  readonly normalize?: boolean;
}

export interface ChunkOptions extends EmbedOptions {
  /** Removes the tokens over the limit of the model from the end. Default: false. */
  readonly truncate?: boolean;
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

  /** Tasks of a model with LoRA adapters of several tasks. Empty: none. */
  get tasks(): readonly string[] {
    return this.model.metadata.tasks;
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
   * @returns embeddings in input order. Embeddings of a static model are views of shared buffers: `buffer` contains other
   *   embeddings of the list, too
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
   * Late chunking: the model reads all texts as one text, and returns the mean of the token embeddings of each text. A
   * space is inserted between two texts that no white space separates.
   *
   * @param chunks consecutive parts of one text, each with at least one token
   * @returns embeddings in the order of the chunks
   * @throws EngineError INPUT_TOO_LONG if the chunks have too many tokens together, unless `truncate` is true;
   *   InputError with the index of the chunk, or if the model does not pool by mean
   */
  async embedChunks(
    chunks: readonly string[],
    { truncate = false, ...options }: ChunkOptions = {},
  ): Promise<readonly Float32Array[]> {
    const { metadata } = this.model;
    if (!metadata.poolsChunks) {
      throw new InputError('embedChunks: expected an encoder with mean pooling', null);
    }
    if (chunks.length === 0) return [];
    for (const [index, chunk] of chunks.entries()) this.#toInput(chunk, index, options);
    const empty = chunks.findIndex(isBlank);
    if (empty >= 0) throw new InputError('expected a text with at least one token', empty);
    const text = { ...this.#promptOf(options), chunks, truncates: truncate };
    const { vectors } = await this.model.withTask(lateChunking, metadata).run(text, options);
    return vectors.map((vector) => postprocessEmbedding(vector, metadata, options));
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
    { dimensions, ...options }: EmbedOptions,
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
    return { text, ...this.#promptOf(options) };
  }

  #promptOf({ promptName, task }: EmbedOptions) {
    return selectPrompt(this.model.metadata, { promptName, task }, (field, known) => {
      const what = field === 'task' ? 'task' : 'prompt';
      const names = known.join(', ') || 'it has none';
      throw new InputError(`${field}: the model has no such ${what} (${names})`, null);
    });
  }

  #toVector({ vector }: Embedding, options: EmbedOptions): Float32Array {
    return postprocessEmbedding(vector, this.model.metadata, options);
  }
}
