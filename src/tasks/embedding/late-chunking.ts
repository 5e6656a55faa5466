import type { PromptSettings } from '../../models/sentence-transformers/model';
import { EngineError, type NativeInput } from '../../native/engine';
import type { EmbeddingMetadata, Prediction, Predictor } from '../capabilities';
import { requireFinite } from '../embeddings';
import type { Task } from '../task';
import { embedding } from './embedding-task';

/** Consecutive parts of a text that the model reads as a whole (late chunking). */
export interface ChunkedText {
  /** At least one. A space is inserted between two parts that no white space separates. */
  readonly chunks: readonly string[];
  /** Text that is prepended. Default: the default prompt of the model. */
  readonly prompt?: string;
  /** Index of the task whose LoRA update applies. Default: the default task of the model. */
  readonly adapterTask?: number;
  /** Whether the end of a text over the limit of the model is removed. Default: INPUT_TOO_LONG. */
  readonly truncates?: boolean;
}

export interface ChunkEmbeddings extends Prediction {
  /** In the order of the chunks. */
  readonly vectors: readonly Float32Array[];
}

export type ChunkEmbedder = Predictor<ChunkedText, ChunkEmbeddings, EmbeddingMetadata>;

/** View of an embedding model with mean pooling: an embedding for each part of a text, see `ChunkInput`. */
export const lateChunking: Task<ChunkedText, ChunkEmbeddings, EmbeddingMetadata> = {
  ...(embedding as Task<never, never, EmbeddingMetadata>),
  prepare: prepareChunks,
  toPrediction: (inference, { dimensions }, index, { chunks: { length } }) => {
    requireFinite(inference, index);
    const { values, rows } = inference;
    if (rows !== length) {
      const message = `The model returned ${rows} embeddings for ${length} texts.`;
      throw new EngineError('INFERENCE_FAILED', message, { index });
    }
    const width = values.length / rows;
    const vectors = Array.from({ length }, (_, row) =>
      values.subarray(row * width, row * width + dimensions),
    );
    return { vectors, inference };
  },
};

function prepareChunks(
  { chunks, prompt, adapterTask, truncates = false }: ChunkedText,
  { defaultPrompt, excludesPrompt }: PromptSettings,
): NativeInput {
  const prefix = prompt ?? defaultPrompt;
  const [first = '', ...rest] = separateChunks(chunks);
  return {
    chunks: [prefix + first, ...rest],
    ...(excludesPrompt && { prompt: prefix }),
    ...(adapterTask !== undefined && { adapterTask }),
    truncation: truncates ? 'longest_first' : 'do_not_truncate',
  };
}

/** Appends a space to each chunk that no white space separates from the next chunk. */
function separateChunks(chunks: readonly string[]): readonly string[] {
  return chunks.map((chunk, index) => {
    const next = chunks[index + 1];
    const isSeparated = next === undefined || /\s$/u.test(chunk) || /^\s/u.test(next);
    return isSeparated ? chunk : `${chunk} `;
  });
}
