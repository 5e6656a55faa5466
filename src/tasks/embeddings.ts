import { allFinite, dot } from '../lib/numbers';
import type { PromptSettings } from '../models/sentence-transformers/model';
import { EngineError, type Inference, type NativeInput } from '../native/engine';
import type { EmbeddingInput, EmbeddingMetadata, EmbeddingText } from './capabilities';

/** Prompt and task of a request, by name. */
export interface PromptNames {
  /** Null or undefined: the instruction of the task, or the default prompt of the model. */
  readonly promptName?: string | null | undefined;
  /** Null or undefined: the task that has the name of the prompt, or the default task of the model. */
  readonly task?: string | null | undefined;
}

/**
 * Selects prompt and task by name. A prompt that has the name of a task also selects the task.
 *
 * @param fail throws the error for an unknown name. `known`: known names; empty: the model has none
 */
export function selectPrompt(
  { prompts, tasks }: Pick<PromptSettings, 'prompts' | 'tasks'>,
  { promptName, task }: PromptNames,
  fail: (field: keyof PromptNames, known: readonly string[]) => never,
): Pick<EmbeddingText, 'prompt' | 'promptName' | 'adapterTask'> {
  if (task != null && !tasks.includes(task)) fail('task', tasks);
  const name = promptName ?? task;
  if (name == null) return {};
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt === undefined) return fail('promptName', Object.keys(prompts));
  const adapterTask = tasks.indexOf(task ?? name);
  return { prompt, promptName: name, ...(adapterTask >= 0 && { adapterTask }) };
}

/** Engine input for a text of a sentence-transformers model: the prompt is prepended to the text. */
export function prepareText(
  input: EmbeddingInput,
  { defaultPrompt, excludesPrompt }: PromptSettings,
): NativeInput {
  if ('ids' in input) return { ...input, types: new Uint32Array(input.ids.length) };
  const { text, prompt = defaultPrompt, promptName: _, ...truncation } = input;
  return { text: prompt + text, ...(excludesPrompt && { prompt }), ...truncation };
}

/** `prepareText`, as a string if the text has no options: the native code reads a string in a quarter of the time. */
export function preparePlainText(input: EmbeddingInput, prompts: PromptSettings): NativeInput {
  const isPlain =
    'text' in input &&
    input.adapterTask === undefined &&
    !prompts.excludesPrompt &&
    input.truncation === undefined &&
    input.truncationSide === undefined &&
    input.maxTokens === undefined;
  return isPlain
    ? (input.prompt ?? prompts.defaultPrompt) + input.text
    : prepareText(input, prompts);
}

/**
 * @param index index of the input in a list, for the error; null: a single input
 * @throws EngineError INFERENCE_FAILED
 */
export function requireFinite({ values }: Inference, index: number | null): void {
  if (allFinite(values)) return;
  const message = 'The model returned an output that is not finite.';
  throw new EngineError('INFERENCE_FAILED', message, { index });
}

export interface PostprocessOptions {
  /** Truncates embeddings to this number of dimensions. Default: all. */
  readonly dimensions?: number | null | undefined;
  /** Whether embeddings are L2-normalized. Default: as the model specifies. */
  readonly normalize?: boolean | null | undefined;
}

/**
 * Truncates and L2-normalizes an embedding. Sums are computed in float64, as in NumPy. Without a change the
 * embedding of the model is returned.
 */
export function postprocessEmbedding(
  vector: Float32Array,
  { normalizes }: Pick<EmbeddingMetadata, 'normalizes'>,
  { dimensions, normalize }: PostprocessOptions,
): Float32Array {
  const isTruncated = dimensions != null && dimensions < vector.length;
  const truncated = isTruncated ? vector.slice(0, dimensions) : vector;
  const isNormalized = normalizes && !isTruncated;
  return (normalize ?? normalizes) && !isNormalized ? l2Normalize(truncated) : truncated;
}

/** The zero vector is returned unchanged. */
function l2Normalize(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(dot(vector, vector));
  return norm === 0 ? vector : vector.map((value) => value / norm);
}
