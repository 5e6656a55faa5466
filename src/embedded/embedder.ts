import path from 'node:path';
import { similarity } from '../lib/numbers';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../tasks/capabilities';
import { embedding } from '../tasks/embedding/embedding-task';
import { postprocessEmbedding } from '../tasks/embeddings';
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
  /** Of sentence-transformers, or of an encoder that `save_pretrained` wrote. */
  readonly modelDirectory: string;
}

export interface EmbedOptions extends RunOptions {
  /** Of the model's prompts, one that is put before each text. Default: the model's own. */
  readonly promptName?: string;
  /** So many of the first numbers, with a length of 1 again where the model's vectors have it. */
  readonly dimensions?: number;
  /** Vectors get a length of 1. Default: where the model's own have it. */
  readonly normalize?: boolean;
}

/** Texts to vectors, as `SentenceTransformer.encode`. Loaded once; `close` when it is no longer needed. */
export class Embedder extends ModelEngine<EmbeddingInput, Embedding, EmbeddingMetadata> {
  /**
   * @throws ConfigError: an option is wrong; EngineError with code MODEL_LOAD_FAILED, whose message
   *   names the file and the key at fault
   */
  static async load({ modelDirectory, ...options }: EmbedderOptions): Promise<Embedder> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return new Embedder(await loadTexts(embedding, path.resolve(modelDirectory), scheduling));
  }

  /** Numbers of a vector. */
  get dimensions(): number {
    return this.model.metadata.dimensions;
  }

  /** Tokens of a text; longer ones are cut. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /** Names of what can be put before texts. */
  get prompts(): readonly string[] {
    return Object.keys(this.model.metadata.prompts);
  }

  /** @throws EngineError, InputError */
  async embed(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const input = this.#toInput(text, null, options);
    return this.#toVector(await this.model.run(input, options), options);
  }

  /**
   * @returns in the order of the texts
   * @throws EngineError, InputError: with the index of the text at fault
   */
  async embedBatch(
    texts: readonly string[],
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    const inputs = texts.map((text, index) => this.#toInput(text, index, options));
    const answers = await this.model.runAll(inputs, options);
    return answers.map((answer) => this.#toVector(answer, options));
  }

  /** How alike two vectors are by the model's own function, cosine where it names none: the higher the more. */
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
