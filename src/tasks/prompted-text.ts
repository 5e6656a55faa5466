import { allFinite } from '../lib/numbers';
import type { PromptSettings } from '../models/sentence-transformers/model';
import { EngineError, type Inference, type NativeInput } from '../native/engine';
import type { EmbeddingInput } from './capabilities';

/** What the engine is given for a text of a model of sentence-transformers. */
export function prepareText(
  input: EmbeddingInput,
  { defaultPrompt, excludesPrompt: leavesOutPrompt }: PromptSettings,
): NativeInput {
  if ('ids' in input) return { ids: input.ids, types: new Uint32Array(input.ids.length) };
  const { text, prompt, promptName: _, ...cut } = input;
  const before = prompt ?? defaultPrompt;
  return { text: before + text, ...(leavesOutPrompt && { prompt: before }), ...cut };
}

/** @param index of the input in a list; null: it was alone. @throws EngineError INFERENCE_FAILED */
export function requireFinite({ values }: Inference, index: number | null): void {
  if (allFinite(values)) return;
  const message = 'The model gave an output that is not finite.';
  throw new EngineError('INFERENCE_FAILED', message, { index });
}
