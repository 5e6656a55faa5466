import type { ServiceInfo } from '../protocols/own/info';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface EmbedOptions extends CallOptions {
  /** So many of the first numbers. Default: all. */
  readonly dimensions?: number;
  /** Vectors get a length of 1. Default: true. */
  readonly normalize?: boolean;
  /** Of the model's prompts, one that is put before each text. Default: the model's own. */
  readonly promptName?: string;
}

/** Of a model of vectors: `http://localhost:8000/models/NAME`. */
export class EmbedClient extends Client<ServiceInfo> {
  async embed(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const [vector] = await this.embedBatch([text], options);
    return vector as Float32Array;
  }

  /** @returns in the order of the texts */
  async embedBatch(
    texts: readonly string[],
    options: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    const { dimensions, normalize, promptName } = options;
    const body = {
      inputs: texts,
      ...(dimensions !== undefined && { dimensions }),
      ...(normalize !== undefined && { normalize }),
      ...(promptName !== undefined && { prompt_name: promptName }),
    };
    const vectors = await this.call<readonly (readonly number[])[]>('/embed', body, options);
    return vectors.map((vector) => Float32Array.from(vector));
  }
}
